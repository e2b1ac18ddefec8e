import { RandomSource, type Simulator, type Task } from '@flashstack/sim';
import { type FileSystem, type FsEnvironment, MemFs, SimplePageCache } from '@flashstack/vfs';
import { delayed, type FileSystemUnderTest, type MountedFileSystem } from '@flashstack/vfs/conformance';
import { Host } from '../src/index.js';

/** What stands between a host and its memfs. */
export type Between = (fileSystem: MemFs, simulator: Simulator, seed: number) => FileSystem;

/** Nothing. */
export const plain: Between = (fileSystem) => fileSystem;

/** Waits in every operation. */
export const waiting: Between = (fileSystem, simulator, seed) =>
  delayed(fileSystem, simulator, new RandomSource(seed).stream('waits'));

function* mount(
  simulator: Simulator,
  bytes: number,
  seed: number,
  between: Between,
  earlier: MemFs | null,
): Task<MountedFileSystem> {
  let memfs: MemFs | null = null;
  const host = new Host({
    simulator,
    cache: new SimplePageCache(simulator),
    fileSystem: (environment: FsEnvironment) => {
      memfs = new MemFs(environment, { bytes, inodes: 10_000 }, earlier);
      return between(memfs, simulator, seed);
    },
  });
  yield* host.mount();
  return {
    calls: host,
    *remount() {
      yield* host.unmount();
      return yield* mount(simulator, bytes, seed, between, memfs);
    },
    unmount: () => host.unmount(),
    cut: () => host.cutPower(),
  };
}

/** memfs under a host, as a subject of the conformance suite. */
export function memFsUnderTest(between: Between): FileSystemUnderTest {
  return {
    capabilities: MemFs.capabilities,
    mount: (simulator, _device, bytes, seed) => mount(simulator, bytes, seed, between, null),
  };
}
