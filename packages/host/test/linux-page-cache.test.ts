import { LEAST_MEMORY_BYTES, Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { Simulator, type Task } from '@flashstack/sim';
import { MemFs } from '@flashstack/vfs';
import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { test } from 'vitest';
import { Host } from '../src/index.js';

// The semantics of POSIX hold under the page cache of Linux too, with the least memory that it takes, so that pages come
// and go all the time.
function hostOf(simulator: Simulator, bytes: number, earlier: MemFs | null): Host {
  const memory = new PageMemory(simulator, { memoryBytes: LEAST_MEMORY_BYTES });
  const limits = { raPages: 32, ioPages: 320 };
  const cache = new LinuxPageCache(memory, null, { policy: new Linux6Readahead(), limits });
  return new Host({ simulator, cache, fileSystem: (environment) => new MemFs(environment, { bytes }, earlier) });
}

interface Mounted {
  readonly calls: Host;
  remount(): Task<Mounted>;
  unmount(): Task<void>;
  cut(): void;
}

function* mount(simulator: Simulator, bytes: number, earlier: MemFs | null): Task<Mounted> {
  const host = hostOf(simulator, bytes, earlier);
  yield* host.mount();
  return {
    calls: host,
    *remount() {
      yield* host.unmount();
      return yield* mount(simulator, bytes, host.fileSystem as MemFs);
    },
    unmount: () => host.unmount(),
    cut: () => host.cutPower(),
  };
}

fileSystemConformance({
  test,
  subject: {
    capabilities: hostOf(new Simulator(), 2 ** 25, null).fileSystem.capabilities,
    mount: (simulator, _device, bytes) => mount(simulator, bytes, null),
  },
});
