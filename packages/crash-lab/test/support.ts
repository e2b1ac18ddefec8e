import { type BlockDevice, MemoryDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { formatMiniJournal, MiniJournalFs } from '@flashstack/mini-journal';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { type FileSystem, type FsEnvironment, MemFs, SimplePageCache } from '@flashstack/vfs';
import { executeWorkload, type History, makeBase, readTree, type Tree, type Workload } from '../src/index.js';

export const full: boolean = process.env.CI !== undefined;
export const long: boolean = process.env.FLASHSTACK_LONG !== undefined;

/** A clock of positions that nothing else counts. */
class Positions {
  now = 0;
  tick(): number {
    return ++this.now;
  }
}

/** A mounted host in memory. */
export function onMemFs(): Host {
  return mount(new Simulator(), new MemoryDevice({ blockCount: 1 }), (_device, environment) => new MemFs(environment));
}

/** A mounted host on a small new volume. */
export function onMiniJournal(): Host {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockCount: 512, features: { volatileCache: true } });
  runTask(simulator, formatMiniJournal(device, { inodes: 64 }));
  return mount(simulator, device, (on, environment) => new MiniJournalFs(on, environment));
}

function mount(
  simulator: Simulator,
  device: MemoryDevice,
  make: (device: BlockDevice, environment: FsEnvironment) => FileSystem,
): Host {
  const cache = new SimplePageCache(simulator, device);
  const host = new Host({ simulator, cache, fileSystem: (environment) => make(device, environment) });
  host.run(host.mount());
  return host;
}

/** Runs a workload to its end on its base state; its history and the tree that programs see then. */
export function runWorkload(host: Host, workload: Workload): { history: History; tree: Tree; cut: number } {
  const clock = new Positions();
  host.run(makeBase(workload.base, host));
  const { history, programs } = executeWorkload(workload, host, clock);
  const all = programs.map((task) => host.simulator.spawn('program', task, { group: host.group }));
  host.run(
    (function* (): Task<void> {
      for (const program of all) yield program;
    })(),
  );
  const attributes = host.fileSystem.capabilities.attributeBytes > 0;
  return { history, tree: host.run(readTree(host.process().thread(), attributes)), cut: clock.tick() };
}
