import { runTask, type Simulator, type Task } from '@flashstack/sim';
import { type BlockDevice, BlockOp } from '../contract.js';
import { IoBatch } from '../io-batch.js';
import { checkGeometry } from '../memory-device.js';
import { UNREADABLE, VersionPool, ZEROES } from './version-pool.js';

/** Blocks that are read at a time. */
const CHUNK = 256;

/** Contents of a whole device that never change: what any number of crash-exploring devices stand on. */
export class BaseImage {
  readonly blockBytes: number;
  readonly blockCount: number;
  /** Holds the contents. */
  readonly pool: VersionPool;
  /** Version of each block. */
  readonly versions: Int32Array;

  private constructor(blockCount: number, pool: VersionPool, versions: Int32Array) {
    this.blockBytes = pool.blockBytes;
    this.blockCount = blockCount;
    this.pool = pool;
    this.versions = versions;
  }

  /** All zero. @throws RangeError if the sizes are unusable. */
  static blank(blockCount: number, blockBytes: number = 4096): BaseImage {
    checkGeometry(blockBytes, blockCount);
    return new BaseImage(blockCount, new VersionPool(blockBytes), new Int32Array(blockCount));
  }

  /** What a device holds now. @throws Error for a block that cannot be read. */
  static of(simulator: Simulator, device: BlockDevice): BaseImage {
    const image = BaseImage.blank(device.blockCount, device.blockBytes);
    runTask(simulator, image.load(device), 'base image');
    return image;
  }

  /** For `CrashDevice.freeze`: a copy of these versions of another pool. */
  static from(pool: VersionPool, versions: Int32Array): BaseImage {
    const own = new VersionPool(pool.blockBytes);
    const data = new Uint8Array(pool.blockBytes);
    const image = new BaseImage(versions.length, own, new Int32Array(versions.length));
    for (let block = 0; block < versions.length; block++) {
      if (versions[block] <= UNREADABLE) {
        image.versions[block] = versions[block];
        continue;
      }
      const tag = pool.tagOf(versions[block]);
      if (tag >= 0) {
        image.versions[block] = tag === 0 ? ZEROES : own.addTag(tag);
        continue;
      }
      pool.copyOut(versions[block], data, 0);
      image.versions[block] = own.addBytes(data, 0);
    }
    return image;
  }

  private *load(device: BlockDevice): Task<void> {
    const { blockBytes, blockCount } = device;
    const data = new Uint8Array(CHUNK * blockBytes);
    const batch = new IoBatch(device);
    for (let block = 0; block < blockCount; block += CHUNK) {
      const count = Math.min(CHUNK, blockCount - block);
      batch.add(BlockOp.read, block, count).data = data.subarray(0, count * blockBytes);
      yield batch;
      if (batch.status !== 0) throw new Error(`blocks ${block}–${block + count - 1} cannot be read`);
      for (let at = 0; at < count; at++) {
        const version = this.pool.addBytes(data, at * blockBytes);
        this.versions[block + at] = version;
        if (this.pool.tagOf(version) !== 0) continue;
        this.pool.truncate(version);
        this.versions[block + at] = ZEROES;
      }
    }
  }
}
