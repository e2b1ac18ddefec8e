import { createHash } from 'node:crypto';
import { type BlockDevice, BlockOp, IoBatch } from '@flashstack/block-device';
import { Mutex, type Parameter, type StrategyKind, type Task } from '@flashstack/sim';
import {
  type DirectoryEntry,
  FileKind,
  type FileSystemScheme,
  type FsEnvironment,
  FsError,
  type Inode,
  MemFs,
  WritebackReason,
} from '@flashstack/vfs';

const BLOCK = 4096;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What one request did; its data goes both ways. */
function* request(device: BlockDevice, op: number, block: number, data: Uint8Array): Task<Uint8Array> {
  const batch = new IoBatch(device);
  const added = batch.add(op, block, data.length / BLOCK);
  if (op !== BlockOp.flush) added.data = data;
  yield batch;
  if (batch.status !== 0) throw new FsError('EIO');
  return data;
}

/** A file (with data) or a directory (with entries), as JSON. */
interface Saved {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly data?: string;
  readonly entries?: Readonly<Record<string, Saved>>;
}

/** One half of the drive: a block that says what follows, and the text of a tree. */
class Half {
  constructor(device: BlockDevice, index: number) {
    this.device = device;
    this.blocks = Math.floor(device.blockCount / 2);
    this.first = index * this.blocks;
  }
  private readonly device: BlockDevice;
  private readonly blocks: number;
  private readonly first: number;

  *write(generation: number, text: string): Task<void> {
    const blocks = 1 + Math.ceil(text.length / BLOCK);
    if (blocks > this.blocks) throw new FsError('ENOSPC');
    const bytes = Buffer.alloc(blocks * BLOCK);
    bytes.write(JSON.stringify({ generation, length: text.length, sum: sha256(text) }));
    bytes.write(text, BLOCK);
    yield* request(this.device, BlockOp.write, this.first, bytes);
  }

  /** The tree that is there; generation −1: none that is whole. */
  *read(): Task<{ generation: number; text: string }> {
    const bytes = Buffer.from(
      yield* request(this.device, BlockOp.read, this.first, new Uint8Array(this.blocks * BLOCK)),
    );
    const end = bytes.indexOf(0);
    try {
      const { generation, length, sum } = JSON.parse(bytes.toString('utf8', 0, end));
      const text = bytes.toString('utf8', BLOCK, BLOCK + length);
      if (sha256(text) === sum) return { generation, text };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    return { generation: -1, text: '' };
  }
}

/** Files in memory, all of which each sync writes into one half of the drive, in turn. */
class SnapshotFs extends MemFs {
  override readonly capabilities = {
    ...{ ...MemFs.capabilities, name: 'snapshot', durable: true, links: 1, symlinks: false, specialFiles: false },
    ...{ unnamedFiles: false, attributeBytes: 0, fallocate: [], directBytes: 0 },
  };
  private readonly device: BlockDevice;
  private readonly env: FsEnvironment;
  private readonly flushes: boolean;
  private readonly lock: Mutex;
  private generation = 0;

  constructor(device: BlockDevice, env: FsEnvironment, flushes: boolean) {
    super(env);
    this.device = device;
    this.env = env;
    this.flushes = flushes;
    this.lock = new Mutex(env.simulator, 'snapshot');
  }

  override *mount(): Task<void> {
    yield* super.mount();
    const [a, b] = [yield* new Half(this.device, 0).read(), yield* new Half(this.device, 1).read()];
    const newest = b.generation > a.generation ? b : a;
    if (newest.generation < 0) throw new FsError('EUCLEAN', 'neither half of the drive holds a tree');
    this.generation = newest.generation;
    yield* this.load(this.root(), JSON.parse(newest.text));
  }

  override *unmount(): Task<void> {
    yield* this.sync();
    yield* super.unmount();
  }

  override fsync(): Task<void> {
    return this.sync();
  }

  override *sync(): Task<void> {
    if (!this.lock.tryLock()) yield this.lock;
    try {
      const text = JSON.stringify(yield* this.save(this.root()));
      this.generation++;
      yield* new Half(this.device, this.generation % 2).write(this.generation, text);
      if (this.flushes) yield* request(this.device, BlockOp.flush, 0, new Uint8Array(0));
    } finally {
      this.lock.unlock();
    }
  }

  private *save(inode: Inode): Task<Saved> {
    const { mode, uid, gid } = inode;
    if (inode.kind !== FileKind.directory) {
      yield* this.env.cache.writeBack(inode, WritebackReason.sync);
      const pages = new Uint8Array(Math.ceil(inode.size / BLOCK) * BLOCK);
      if (inode.size > 0) yield* this.direct(inode, false, 0, pages.length, pages, null);
      return { mode, uid, gid, data: Buffer.from(pages.subarray(0, inode.size)).toString('base64') };
    }
    const names: DirectoryEntry[] = [];
    yield* this.readdir(inode, 0, 100_000, names);
    const entries: Record<string, Saved> = {};
    for (const { name } of names) {
      const below = yield* this.lookup(inode, name);
      if (below !== null) entries[name] = yield* this.save(below);
    }
    return { mode, uid, gid, entries };
  }

  private *load(directory: Inode, { mode, uid, gid, entries = {} }: Saved): Task<void> {
    for (const [name, saved] of Object.entries(entries)) {
      const kind = saved.data === undefined ? FileKind.directory : FileKind.regular;
      const inode = yield* this.create(directory, name, { ...saved, kind });
      if (saved.data === undefined) {
        yield* this.load(inode, saved);
        continue;
      }
      const data = Buffer.from(saved.data, 'base64');
      const pages = new Uint8Array(Math.ceil(data.length / BLOCK) * BLOCK);
      pages.set(data);
      if (data.length > 0) yield* this.direct(inode, true, 0, pages.length, pages, null);
      yield* this.setAttributes(inode, { size: data.length });
    }
    yield* this.setAttributes(directory, { mode, uid, gid });
  }
}

const parameters: readonly Parameter[] = [
  { name: 'flush', type: 'boolean', default: true, help: 'Each sync flushes the cache of the drive.' },
];

export const fileSystems: readonly StrategyKind<FileSystemScheme>[] = [
  {
    name: 'snapshot',
    summary: 'Writes all files at each sync, into one half of the drive or the other.',
    parameters,
    create: ({ flush }) => ({
      onDevice: true,
      *format(device) {
        yield* new Half(device, 0).write(0, JSON.stringify({ mode: 0o755, uid: 0, gid: 0, entries: {} }));
      },
      open: (device, environment) => new SnapshotFs(device, environment, flush === true),
    }),
  },
];
