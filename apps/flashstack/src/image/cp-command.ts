import { existsSync, realpathSync } from 'node:fs';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { ExitCode } from '../exit-code.js';
import { UsageError } from '../report-error.js';
import type { Session } from '../session.js';
import { baseName, joined, textOf } from './byte-text.js';
import { Copier, type Sink, type SourceNode } from './copy.js';
import { HostSink, hostNode } from './copy-host.js';
import { ImageSink, imageNode } from './copy-image.js';
import { MountedImage, type ReadImage } from './open-image.js';
import { type Place, placeOf } from './place.js';
import { openToRead } from './read-commands.js';
import { imageTime } from './time.js';
import type { Tree } from './tree.js';

/** Flags of `image cp`. */
export interface CopyFlags {
  readonly time?: string;
}

/** Images that are read, opened once each. */
class Sources {
  private readonly session: Session;
  private readonly simulator: Simulator;
  private readonly open: Map<string, { readonly image: ReadImage; readonly tree: Tree }> = new Map();

  constructor(simulator: Simulator, session: Session) {
    this.simulator = simulator;
    this.session = session;
  }

  /** @throws UsageError, HostError, FsError */
  node({ image: file, path }: Place): SourceNode {
    if (file === null) return hostNode(path);
    const found = this.open.get(file) ?? this.add(file);
    return found.image.run(imageNode(found.image, found.tree, path));
  }

  close(): void {
    for (const { image } of this.open.values()) image.close();
  }

  private add(file: string): { readonly image: ReadImage; readonly tree: Tree } {
    const image = openToRead(file, this.simulator, this.session);
    const opened = { image, tree: image.run(image.kind.tree(image.device)) };
    this.open.set(file, opened);
    return opened;
  }
}

/** `image cp`: copies between this machine and images, or from image to image. Returns the exit code. */
export function runImageCp(names: readonly string[], flags: CopyFlags, session: Session): number {
  const places = names.map(placeOf);
  const to = places[places.length - 1];
  const from = places.slice(0, -1);
  if (from.length === 0) throw new UsageError('cp needs a source and a destination: SRC… DST.');
  checkSides(from, to);
  const simulator = new Simulator();
  const sources = new Sources(simulator, session);
  try {
    const nodes = from.map((place) => sources.node(place));
    if (to.image === null) {
      const sink = new HostSink();
      const copier = new Copier(sink);
      runTask(simulator, copyAll(copier, sink, nodes, from, to));
      return report(copier, session);
    }
    const image = new MountedImage(to.image, simulator, imageTime(flags.time, session), (text) =>
      session.note('journal', text),
    );
    const copier = copyInto(image, nodes, from, to);
    return report(copier, session);
  } finally {
    sources.close();
  }
}

/** Copies into a mounted image, which is unmounted cleanly also if the copy fails. */
function copyInto(image: MountedImage, nodes: readonly SourceNode[], from: readonly Place[], to: Place): Copier {
  const process = image.host.process({ name: 'cp', umask: 0 });
  const sink = new ImageSink(process.thread());
  const copier = new Copier(sink);
  try {
    image.run(copyAll(copier, sink, nodes, from, to));
  } finally {
    image.run(process.exit());
    image.close();
  }
  return copier;
}

function* copyAll(
  copier: Copier,
  sink: Sink,
  nodes: readonly SourceNode[],
  from: readonly Place[],
  to: Place,
): Task<void> {
  const isDirectory = (yield* sink.kindAt(to.path, true)) === FileKind.directory;
  const name = `${to.image === null ? '' : `${to.image}:`}${textOf(to.path)}`;
  if (!isDirectory && nodes.length > 1) throw new UsageError(`${name}: several sources need a directory to go into.`);
  if (!isDirectory && to.path.endsWith('/') && nodes[0].status.kind !== FileKind.directory) {
    throw new UsageError(`${name}: there is no such directory.`);
  }
  for (const [at, node] of nodes.entries()) {
    const base = baseName(from[at].path);
    const into = isDirectory && base !== '' && base !== '.' && base !== '..';
    yield* copier.copy(node, into ? joined(to.path, base) : to.path);
  }
}

/** @throws UsageError where no side is in an image, or both are in the same one. */
function checkSides(from: readonly Place[], to: Place): void {
  if (to.image === null && from.every(({ image }) => image === null)) {
    throw new UsageError('neither side is in an image: cp of this machine does that.', [
      'Files in an image are written IMAGE:/path.',
    ]);
  }
  if (to.image === null) return;
  for (const { image } of from) {
    if (image === null || !existsSync(image) || !existsSync(to.image)) continue;
    if (realpathSync(image) !== realpathSync(to.image)) continue;
    throw new UsageError(`${image}: source and destination are in the same image.`, [
      'Copy out of it first, then into it.',
    ]);
  }
}

function report({ counts }: Copier, session: Session): number {
  const { numbers } = session.style;
  const { directories, files, hardLinks, symlinks, special, bytes, lostAttributes, skipped } = counts;
  const parts = [
    numbers.counted(files, 'file'),
    directories === 1 ? '1 directory' : `${numbers.count(directories)} directories`,
    ...(symlinks === 0 ? [] : [numbers.counted(symlinks, 'symbolic link')]),
    ...(hardLinks === 0 ? [] : [numbers.counted(hardLinks, 'hard link')]),
    ...(special === 0 ? [] : [numbers.counted(special, 'special file')]),
  ];
  session.print(`copied ${parts.join(', ')}; ${numbers.bytes(bytes)}\n`);
  if (lostAttributes > 0) {
    session.warn(`${numbers.counted(lostAttributes, 'extended attribute')} could not be kept at the destination.`);
  }
  for (const path of skipped) session.warn(`${textOf(path)}: a special file that cannot be made there was left out.`);
  return skipped.length > 0 ? ExitCode.no : ExitCode.done;
}
