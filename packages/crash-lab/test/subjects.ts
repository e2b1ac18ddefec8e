import { type BlockDevice, MemoryDevice } from '@flashstack/block-device';
import { type CallCosts, DEFAULT_COSTS, Host } from '@flashstack/host';
import {
  checkMiniJournal,
  formatMiniJournal,
  MiniJournalFs,
  type MiniJournalOptions,
  type Planted,
} from '@flashstack/mini-journal';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { type FileSystem, type FsCapabilities, type FsEnvironment, MemFs, SimplePageCache } from '@flashstack/vfs';
import { delayed, type FileSystemUnderTest, type MountedFileSystem } from '@flashstack/vfs/conformance';
import { type CrashSubject, DURABILITY_RULES } from '../src/index.js';

export const full: boolean = process.env.CI !== undefined;
export const long: boolean = process.env.FLASHSTACK_LONG !== undefined;

/** The miniature journal as a subject of crash tests, with these defects. */
export function miniJournalSubject(planted?: Planted, options: MiniJournalOptions = {}): CrashSubject {
  return {
    name: 'mini-journal',
    blocks: 512,
    rules: DURABILITY_RULES['mini-journal'],
    check: (device) => checkMiniJournal(device),
    scheme: {
      onDevice: true,
      format: (device) => formatMiniJournal(device, { inodes: 64 }),
      open: (device, environment) => new MiniJournalFs(device, environment, options, planted),
    },
  };
}

/** A device in memory with an empty mini-journal. */
function formatted(simulator: Simulator, bytes: number): MemoryDevice {
  const device = new MemoryDevice({ blockCount: Math.floor(bytes / 4096), features: { volatileCache: true } });
  runTask(simulator, formatMiniJournal(device));
  return device;
}

/** A host whose calls cost no time, so that programs are where others are at the same instant. */
const free: { readonly costs: Partial<CallCosts> } = {
  costs: Object.fromEntries(Object.keys(DEFAULT_COSTS).map((name) => [name, 0])),
};

/** What stands between a host and its file system. */
export type Between = (fileSystem: FileSystem, simulator: Simulator) => FileSystem;

const plain: Between = (fileSystem) => fileSystem;

function capabilitiesOfMiniJournal(): FsCapabilities {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockCount: 1 });
  const fileSystem = (environment: FsEnvironment): FileSystem => new MiniJournalFs(device, environment);
  return new Host({ simulator, cache: new SimplePageCache(simulator, device), fileSystem }).fileSystem.capabilities;
}

/** The miniature journal, with waits in all operations. */
export function waitingMiniJournal(planted?: Planted): FileSystemUnderTest {
  function* mount(simulator: Simulator, device: BlockDevice): Task<MountedFileSystem> {
    const fileSystem = (environment: FsEnvironment): FileSystem =>
      delayed(new MiniJournalFs(device, environment, {}, planted), simulator, null);
    const host = new Host({ simulator, cache: new SimplePageCache(simulator, device), fileSystem }, free);
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
  return {
    capabilities: capabilitiesOfMiniJournal(),
    format: formatted,
    mount: (simulator, device) => mount(simulator, device as BlockDevice),
  };
}

/** memfs with waits in all operations; `between` may stand in front of it. */
export function waitingMemFs(between: Between = plain): FileSystemUnderTest {
  function* mountMemFs(simulator: Simulator, bytes: number, earlier: MemFs | null): Task<MountedFileSystem> {
    let memfs: MemFs | null = null;
    const fileSystem = (environment: FsEnvironment): FileSystem => {
      memfs = new MemFs(environment, { bytes, inodes: 10_000 }, earlier);
      return delayed(between(memfs, simulator), simulator, null);
    };
    const host = new Host({ simulator, cache: new SimplePageCache(simulator), fileSystem }, free);
    yield* host.mount();
    return {
      calls: host,
      *remount() {
        yield* host.unmount();
        return yield* mountMemFs(simulator, bytes, memfs);
      },
      unmount: () => host.unmount(),
      cut: () => host.cutPower(),
    };
  }
  return {
    capabilities: MemFs.capabilities,
    mount: (simulator, _device, bytes) => mountMemFs(simulator, bytes, null),
  };
}
