import { type BlockDevice, MemoryDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { SimplePageCache } from '@flashstack/vfs';
import type { FileSystemUnderTest, MountedFileSystem } from '@flashstack/vfs/conformance';
import { formatMiniJournal, MiniJournalFs, type MiniJournalOptions } from '../src/index.js';

export const full: boolean = process.env.CI !== undefined;
export const long: boolean = process.env.FLASHSTACK_LONG !== undefined;

/** A device in memory with an empty file system. */
export function formatted(simulator: Simulator, bytes: number): MemoryDevice {
  const device = new MemoryDevice({ blockCount: Math.floor(bytes / 4096), features: { volatileCache: true } });
  runTask(simulator, formatMiniJournal(device));
  return device;
}

/** A host with the file system of a device; not mounted yet. */
export function hostOn(
  simulator: Simulator,
  device: BlockDevice,
  options: MiniJournalOptions = {},
  log: (message: string) => void = () => {},
): Host {
  return new Host(
    {
      simulator,
      cache: new SimplePageCache(simulator, device),
      fileSystem: (environment) => new MiniJournalFs(device, environment, options),
    },
    { log },
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
  format: formatted,
  mount: (simulator, device) => mount(simulator, device as BlockDevice),
};
