import { type BlockDevice, BlockOp, IoBatch, MemoryDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { SimplePageCache } from '@flashstack/vfs';
import type { FileSystemUnderTest, MountedFileSystem } from '@flashstack/vfs/conformance';
import { Ext4, type Ext4Options, mkfs } from '../src/index.js';

const hex = (text: string): Uint8Array =>
  Uint8Array.from(text.replaceAll('-', '').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

export const full: boolean = process.env.CI !== undefined;
export const long: boolean = process.env.FLASHSTACK_LONG !== undefined;

export const UUID: Uint8Array = hex('6f3a1c52-0b7d-4e8a-9c11-2a5d7e9f0c34');
export const HASH_SEED: Uint8Array = hex('1b0c44d9-52aa-4a63-8e70-d3f1a2b4c5e6');
export const TIME = 1_700_000_000;
/** Journal, tables and bitmaps of the smallest file systems. */
const OVERHEAD = 6 * 2 ** 20;

/** A device in memory with a new file system that has about so many bytes free; `emptied`: without `lost+found`. */
export function formatted(simulator: Simulator, bytes: number, emptied: boolean = true): MemoryDevice {
  const device = new MemoryDevice({
    blockCount: Math.floor((bytes * 1.07 + OVERHEAD) / 4096),
    features: { volatileCache: true },
  });
  runTask(simulator, mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, reservedPercent: 0 }));
  if (!emptied) return device;
  const host = hostOn(simulator, device);
  host.run(host.mount());
  const process = host.process();
  host.run(
    (function* (): Task<void> {
      const removed = process.thread().rmdir('/lost+found');
      if (typeof removed !== 'number') yield* removed;
      yield* process.exit();
    })(),
  );
  host.run(host.unmount());
  return device;
}

/** A host with the file system of a device; not mounted yet. */
export function hostOn(simulator: Simulator, device: BlockDevice, options: Ext4Options = {}): Host {
  return new Host(
    {
      simulator,
      cache: new SimplePageCache(simulator, device),
      fileSystem: (environment) => new Ext4(device, environment, options),
    },
    { epochSec: TIME },
  );
}

function* mount(simulator: Simulator, device: BlockDevice): Task<MountedFileSystem> {
  const host = hostOn(simulator, device);
  yield* host.mount();
  return {
    calls: host,
    *remount() {
      yield* host.unmount();
      return yield* mount(simulator, device);
    },
    unmount: () => host.unmount(),
    cut: () => host.cutPower(),
  };
}

export const subject: FileSystemUnderTest = {
  capabilities: hostOn(new Simulator(), new MemoryDevice({ blockCount: 1 })).fileSystem.capabilities,
  format: (simulator, bytes) => formatted(simulator, bytes),
  mount: (simulator, device) => mount(simulator, device as BlockDevice),
};

/** All bytes of a device. */
export function bytesOf(simulator: Simulator, device: BlockDevice): Uint8Array {
  const data = new Uint8Array(device.blockCount * device.blockBytes);
  const batch = new IoBatch(device);
  batch.add(BlockOp.read, 0, device.blockCount).data = data;
  runTask(
    simulator,
    (function* () {
      yield batch;
    })(),
  );
  return data;
}
