import { Simulator, type Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import type { Session } from '../session.js';
import { table } from '../terminal.js';
import { baseName, textOf } from './byte-text.js';
import { ReadImage } from './open-image.js';
import { imagePlaceOf } from './place.js';
import { deviceNumbers, kindName, modeText, secondText, sizeText, timeText } from './show.js';
import { type Entry, type NodeStatus, resolvePath, type Tree } from './tree.js';

const ZEROES = new Uint8Array(1 << 18);

/** Flags of `ls` and `tree`. */
export interface ListFlags {
  readonly json?: boolean;
}

/** Opens an image for reading, says if its journal was replayed, and closes it at the end. */
function withTree<T>(argument: string, session: Session, work: (tree: Tree, path: string) => Task<T>): T {
  const { image: file, path } = imagePlaceOf(argument);
  const image = openToRead(file, new Simulator(), session);
  try {
    return image.run(
      (function* () {
        return yield* work(yield* image.kind.tree(image.device), path);
      })(),
    );
  } finally {
    image.close();
  }
}

/** An image as a mount would show it; the file stays as it is. */
export function openToRead(path: string, simulator: Simulator, session: Session): ReadImage {
  const image = new ReadImage(path, simulator, true);
  if (image.recovered !== null) session.note('journal', `${image.recovered} (in memory, ${path} stays as it is)`);
  return image;
}

/** A file with its name, and where it leads if it is a link. */
interface Listed {
  readonly name: string;
  readonly status: NodeStatus;
  readonly target: string | null;
}

function* listed(tree: Tree, { name, ino }: Entry): Task<Listed> {
  const status = yield* tree.status(ino);
  return { name, status, target: status.kind === FileKind.symlink ? yield* tree.target(ino) : null };
}

function* children(tree: Tree, ino: number): Task<Listed[]> {
  const found: Listed[] = [];
  for (const entry of yield* tree.entries(ino)) found.push(yield* listed(tree, entry));
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `image ls`: a directory, or one file, as `ls -lin` lists it. */
export function runImageLs(argument: string, { json }: ListFlags, session: Session): void {
  const files = withTree(argument, session, function* (tree, path) {
    const ino = yield* resolvePath(tree, path, path.endsWith('/'));
    const status = yield* tree.status(ino);
    if (status.kind === FileKind.directory) return yield* children(tree, ino);
    return [yield* listed(tree, { name: baseName(path), ino })];
  });
  if (json === true) {
    session.print(`${JSON.stringify(files.map(asJson), null, 1)}\n`);
    return;
  }
  const rows = files.map(({ name, status, target }) => [
    String(status.ino),
    modeText(status),
    String(status.links),
    String(status.uid),
    String(status.gid),
    sizeText(status, session),
    secondText(status.modified[0]).replace(' UTC', ''),
    named(name, status, target, session),
  ]);
  const head = ['inode', 'mode', 'links', 'uid', 'gid', 'bytes', 'modified, UTC', 'name'];
  const [first, ...lines] = table([head, ...rows], 'rlrrrrll');
  session.print(`${[session.style.tone('dim', first), ...lines].join('\n')}\n`);
}

function named(name: string, { kind }: NodeStatus, target: string | null, { style }: Session): string {
  const shown = kind === FileKind.directory ? style.tone('path', textOf(name)) : textOf(name);
  return target === null ? shown : `${shown} -> ${textOf(target)}`;
}

function asJson({ name, status, target }: Listed): unknown {
  const { kind, mode, ...rest } = status;
  return { name: textOf(name), kind: kindName(kind), mode: mode.toString(8).padStart(4, '0'), ...rest, target };
}

/** `image tree`: everything below a directory. */
export function runImageTree(argument: string, session: Session): void {
  const { style } = session;
  const [fork, end, through] = style.ascii ? ['|-- ', '`-- ', '|   '] : ['├── ', '└── ', '│   '];
  const stem = '    ';
  const counts = { directories: 0, files: 0, links: 0, others: 0, bytes: 0 };
  const count = ({ kind, size }: NodeStatus): void => {
    if (kind === FileKind.directory) counts.directories++;
    else if (kind === FileKind.symlink) counts.links++;
    else if (kind === FileKind.regular) {
      counts.files++;
      counts.bytes += size;
    } else counts.others++;
  };
  function* walk(tree: Tree, ino: number, indent: string, above: ReadonlySet<number>): Task<void> {
    const all = yield* children(tree, ino);
    for (const [at, { name, status, target }] of all.entries()) {
      const last = at === all.length - 1;
      count(status);
      const size = status.kind === FileKind.regular ? `  ${style.tone('dim', style.numbers.bytes(status.size))}` : '';
      const branch = style.tone('dim', indent + (last ? end : fork));
      session.print(`${branch}${named(name, status, target, session)}${size}\n`);
      if (status.kind !== FileKind.directory) continue;
      if (above.has(status.ino)) {
        throw new FsError('EUCLEAN', `directory ${status.ino} lies in itself, by the name ${textOf(name)}`);
      }
      yield* walk(tree, status.ino, indent + (last ? stem : through), new Set([...above, status.ino]));
    }
  }
  withTree(argument, session, function* (tree, path) {
    const root = yield* resolvePath(tree, path, true);
    if ((yield* tree.status(root)).kind !== FileKind.directory) throw new FsError('ENOTDIR', textOf(path));
    session.print(`${style.tone('path', argument)}\n`);
    yield* walk(tree, root, '', new Set([root]));
  });
  const { numbers } = style;
  const parts = [
    counts.directories === 1 ? '1 directory' : `${numbers.count(counts.directories)} directories`,
    numbers.counted(counts.files, 'file'),
    ...(counts.links === 0 ? [] : [numbers.counted(counts.links, 'symbolic link')]),
    ...(counts.others === 0 ? [] : [numbers.counted(counts.others, 'special file')]),
  ];
  session.print(`${parts.join(', ')}; ${numbers.bytes(counts.bytes)} in files\n`);
}

/** `image cat`: contents on stdout, byte by byte, holes as zeroes. */
export function runImageCat(names: readonly string[], session: Session): void {
  for (const argument of names) {
    withTree(argument, session, function* (tree, path) {
      const ino = yield* resolvePath(tree, path, true);
      const { kind, size } = yield* tree.status(ino);
      if (kind === FileKind.directory) throw new FsError('EISDIR', textOf(path));
      if (kind !== FileKind.regular) throw new FsError('EINVAL', `${textOf(path)} is a ${kindName(kind)}`);
      const pieces = yield* tree.pieces(ino);
      let at = 0;
      const fill = (to: number): void => {
        for (; at < to; at += Math.min(ZEROES.length, to - at)) {
          session.host.stdout.writeBytes(ZEROES.subarray(0, Math.min(ZEROES.length, to - at)));
        }
      };
      for (let piece = yield* pieces.next(); piece !== null; piece = yield* pieces.next()) {
        fill(piece.offset);
        session.host.stdout.writeBytes(piece.bytes);
        at = piece.offset + piece.bytes.length;
      }
      fill(size);
    });
  }
}

/** `image stat`: all that an inode says, a link not followed. */
export function runImageStat(argument: string, { json }: ListFlags, session: Session): void {
  const { file, attributes } = withTree(argument, session, function* (tree, path) {
    const ino = yield* resolvePath(tree, path, false);
    return {
      file: yield* listed(tree, { name: baseName(path) || '/', ino }),
      attributes: yield* tree.attributes(ino),
    };
  });
  const values = [...attributes].map(([name, value]) => [textOf(name), Buffer.from(value)] as const);
  if (json === true) {
    const hex = Object.fromEntries(values.map(([name, value]) => [name, value.toString('hex')]));
    session.print(`${JSON.stringify({ ...(asJson(file) as object), attributes: hex }, null, 1)}\n`);
    return;
  }
  const { status, target } = file;
  const { style } = session;
  const isDevice = status.kind === FileKind.blockDevice || status.kind === FileKind.characterDevice;
  const rows = [
    ['inode', style.numbers.count(status.ino)],
    ['kind', kindName(status.kind)],
    ...(target === null ? [] : [['target', textOf(target)]]),
    ...(isDevice ? [['device', deviceNumbers(status.device).join(':')]] : []),
    ['mode', `${status.mode.toString(8).padStart(4, '0')} ${modeText(status)}`],
    ['owner', `${status.uid}:${status.gid}`],
    ['links', style.numbers.count(status.links)],
    ['size', `${style.numbers.count(status.size)} bytes, ${style.numbers.count(status.sectors)} sectors of 512`],
    ['accessed', timeText(status.accessed)],
    ['modified', timeText(status.modified)],
    ['changed', timeText(status.changed)],
    ...(status.born === null ? [] : [['born', timeText(status.born)]]),
    ...values.map(([name, value]) => [name, attributeText(value)]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.map(([name, value]) => `  ${style.tone('dim', name.padEnd(width))}${value}`);
  session.print(`${[style.tone('strong', argument), ...lines].join('\n')}\n`);
}

/** A value that is printable text in quotes, everything else in hexadecimal digits, as getfattr has it. */
function attributeText(value: Buffer): string {
  const text = value.toString('latin1');
  return /^[\x20-\x7e]*$/.test(text) ? `"${text}"` : `0x${value.toString('hex')}`;
}
