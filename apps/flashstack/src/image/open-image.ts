import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import type { BlockDevice } from '@flashstack/block-device';
import { ImageFileDevice } from '@flashstack/block-device/node';
import { HostError } from '@flashstack/experiment/node';
import { Host } from '@flashstack/host';
import { runTask, type Simulator, type Task } from '@flashstack/sim';
import { FsError, SimplePageCache } from '@flashstack/vfs';
import { UsageError } from '../report-error.js';
import { HEAD_BYTES, type ImageKind, imageKinds, type Recognised } from './kinds.js';
import { OverlayDevice } from './overlay-device.js';

/** Blocks in which images are read; those of any file system are whole ones of them. */
const READ_BLOCK = 1024;
/** Blocks in which images are written. */
export const WRITE_BLOCK = 4096;

/** An image that is read. What its recovery writes stays in memory. */
export class ReadImage {
  readonly path: string;
  readonly kind: ImageKind;
  readonly device: BlockDevice;
  /** What recovery has done, in words; null: nothing. */
  readonly recovered: string | null;
  readonly simulator: Simulator;
  private readonly file: ImageFileDevice;

  /** @throws UsageError for what is no image, HostError */
  constructor(path: string, simulator: Simulator, recover: boolean) {
    this.path = path;
    this.kind = kindOf(path).kind;
    this.simulator = simulator;
    this.file = new ImageFileDevice(path, { blockBytes: READ_BLOCK, readOnly: true });
    this.device = new OverlayDevice(this.file);
    this.recovered = recover ? this.run(this.kind.recover(this.device)) : null;
  }

  /** Runs a task on it. @throws UsageError, HostError that name the image */
  run<T>(task: Task<T>): T {
    return runTask(this.simulator, this.named(task));
  }

  /** A task whose errors name the image. @throws UsageError, HostError */
  *named<T>(task: Task<T>): Task<T> {
    try {
      return yield* task;
    } catch (error) {
      throw explained(this.path, this.file, error);
    }
  }

  close(): void {
    this.file.close();
  }
}

/** An image that is mounted for writing, as Linux would mount it. */
export class MountedImage {
  readonly path: string;
  readonly host: Host;
  private readonly file: ImageFileDevice;

  /**
   * @param note hears what the mount has recovered.
   * @throws UsageError for what is no image or cannot be written, HostError
   */
  constructor(path: string, simulator: Simulator, epochSec: number, note: (text: string) => void) {
    this.path = path;
    const { kind, blockBytes } = kindOf(path);
    if (blockBytes !== WRITE_BLOCK) {
      throw new UsageError(`${path}: blocks of ${blockBytes} bytes can only be read.`, [
        `Only file systems with blocks of ${WRITE_BLOCK} bytes can be written here.`,
      ]);
    }
    demandUnused(path);
    this.file = new ImageFileDevice(path, { blockBytes: WRITE_BLOCK });
    this.host = new Host(
      {
        simulator,
        cache: new SimplePageCache(simulator, this.file),
        fileSystem: (environment) => kind.open(this.file, environment),
      },
      { epochSec, accessTimes: 'none', log: note, seed: 1 },
    );
    this.run(this.host.mount());
  }

  /** Runs a task on it. @throws UsageError, HostError that name the image */
  run<T>(task: Task<T>): T {
    try {
      return this.host.run(task);
    } catch (error) {
      throw explained(this.path, this.file, error);
    }
  }

  /** Writes everything and unmounts. */
  close(): void {
    this.run(this.host.unmount());
    this.file.close();
  }
}

/** The kind of file system that an image holds. @throws UsageError, HostError */
function kindOf(path: string): Recognised & { readonly kind: ImageKind } {
  const { size, head } = readHead(path);
  for (const kind of imageKinds) {
    const found = kind.recognise(head);
    if (found === null) continue;
    if (found.bytes <= size) return { kind, ...found };
    throw new UsageError(`${path}: the image is truncated: it has ${size} bytes, its ${kind.name} ${found.bytes}.`, [
      'Copy it again, whole. What is there could be checked, but not trusted.',
    ]);
  }
  throw new UsageError(`${path}: no file system is recognised in it.`, [
    `${guessOf(head)} Known are: ${imageKinds.map(({ name }) => name).join(', ')}.`,
    'A new file system: flashstack image mkfs. A partition of a disk image has to be cut out first.',
  ]);
}

function readHead(path: string): { size: number; head: Uint8Array } {
  let descriptor: number;
  try {
    if (statSync(path).isDirectory()) throw new UsageError(`${path}: is a directory, expected an image file.`);
    descriptor = openSync(path, 'r');
  } catch (error) {
    throw fileError(path, error);
  }
  try {
    const head = new Uint8Array(HEAD_BYTES);
    const read = readSync(descriptor, head, 0, HEAD_BYTES, 0);
    return { size: fstatSync(descriptor).size, head: head.subarray(0, read) };
  } finally {
    closeSync(descriptor);
  }
}

/** What a head that no kind recognises looks like. */
function guessOf(head: Uint8Array): string {
  const bytes = Buffer.from(head);
  const starts = (at: number, ...values: number[]): boolean => values.every((value, i) => bytes[at + i] === value);
  if (bytes.every((byte) => byte === 0)) return 'It begins with zeroes: it is empty, or was never formatted.';
  if (starts(0, 0x1f, 0x8b) || starts(0, 0x28, 0xb5, 0x2f, 0xfd) || starts(0, 0xfd, 0x37, 0x7a))
    return 'It is compressed: unpack it first.';
  if (bytes.length >= 1028 && bytes.readUInt32LE(1024) === 0xf2f5_2010) return 'It looks like F2FS.';
  if (starts(0, 0x58, 0x46, 0x53, 0x42)) return 'It looks like XFS.';
  if (starts(0, 0x51, 0x46, 0x49, 0xfb)) return 'It is a qcow2 image: convert it to a raw one.';
  if (starts(510, 0x55, 0xaa)) return 'It looks like a disk with partitions.';
  return 'Its first 4 KiB hold no known superblock.';
}

/** @throws UsageError if a loop device uses the file: two who write to one file system destroy it. */
export function demandUnused(path: string): void {
  const real = realpathSync(path);
  let loops: string[];
  try {
    loops = readdirSync('/sys/block').filter((name) => name.startsWith('loop'));
  } catch (error) {
    // Only Linux has it, and loop devices.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  for (const loop of loops) {
    if (backingFile(loop) !== real) continue;
    throw new UsageError(`${path}: /dev/${loop} uses the image, it may be mounted.`, [
      `Unmount it and detach it first: losetup -d /dev/${loop}.`,
    ]);
  }
}

function backingFile(loop: string): string | null {
  try {
    return readFileSync(`/sys/block/${loop}/loop/backing_file`, 'utf8').trim();
  } catch (error) {
    // A loop device that nothing is attached to, or is being detached.
    if (['ENOENT', 'ENODEV', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** An error of this machine's files in words. */
export function fileError(path: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof UsageError || code === undefined || error instanceof FsError) return error;
  if (code === 'ENOENT') return new UsageError(`${path}: there is no such file.`);
  if (code === 'ENOTDIR') return new UsageError(`${path}: a part of the path is no directory.`);
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'operation not permitted',
    ENOSPC: 'no space left on device',
    EDQUOT: 'disk quota exceeded',
    EROFS: 'read-only file system',
  };
  return new HostError(`${path}: ${reasons[code] ?? (error as Error).message}.`);
}

/** What to do about an error of a file system. */
const ADVICE: Readonly<Record<string, string>> = {
  EUCLEAN: 'The file system is damaged: flashstack image fsck lists the damage, fsck of Linux repairs it.',
  ENOSPC: 'The file system is full. What was copied before is in it.',
  EROFS: 'It can be read; to write it here, make it without these features.',
};

/** An error of a file system with the image and what to do about it; others as they are. */
function explained(path: string, file: ImageFileDevice, error: unknown): unknown {
  if (!(error instanceof FsError)) return error;
  if (error.code === 'EIO' && file.lastError !== null) return fileError(path, file.lastError);
  const [, said] = /^[A-Z0-9]+: (.*)$/s.exec(error.message) ?? ['', error.message];
  const advice = ADVICE[error.code];
  const usage = new UsageError(`${path}: ${said}.`, advice === undefined ? [] : [advice]);
  return Object.assign(usage, { cause: error });
}
