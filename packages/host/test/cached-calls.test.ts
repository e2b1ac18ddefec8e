import { Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { Simulator, type Task } from '@flashstack/sim';
import { type FileCache, type FsEnvironment, MemFs, OpenFlag, SimplePageCache, type Thread } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { Host } from '../src/index.js';

// A call that finds its pages in the cache is a plain function call from the program down to the page: it makes no
// generator and no object, whatever the number of pages.
const PAGES = 1024;
/** Rounds of calls whose growth is compared, after one in which the engine compiles. */
const ROUNDS = 5;

const caches: Record<string, (simulator: Simulator) => FileCache> = {
  'the small cache': (simulator) => new SimplePageCache(simulator),
  'the cache of Linux': (simulator) =>
    new LinuxPageCache(new PageMemory(simulator, { memoryBytes: 2 ** 26 }), null, {
      policy: new Linux6Readahead(),
      limits: { raPages: 32, ioPages: 320 },
    }),
};

function* go(call: number | Task<number>): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

/**
 * A program that reads; how much the heap has grown by `calls` calls of so many pages. The median of rounds: what the engine
 * makes once makes one of them larger, a collection of garbage one of them smaller.
 */
function* growth(thread: Thread, pages: number, calls: number, buffer: Uint8Array | null): Task<number> {
  const fd = yield* go(thread.open('/file', OpenFlag.create | OpenFlag.readWrite));
  for (let page = 0; page < PAGES; page++) yield* go(thread.pwrite(fd, null, 4096, page * 4096));
  const grown = new Float64Array(ROUNDS + 1);
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < calls; at++) {
      const done = thread.pread(fd, buffer, pages * 4096, (at % (PAGES - pages)) * 4096);
      if (done !== pages * 4096) throw new Error(`call ${at}: ${typeof done} instead of the bytes`);
    }
    grown[round] = process.memoryUsage().heapUsed - before;
  }
  return grown.subarray(1).sort()[ROUNDS >> 1];
}

for (const [name, cache] of Object.entries(caches)) {
  for (const pages of [1, 16]) {
    for (const buffer of [null, new Uint8Array(pages * 4096)]) {
      const into = buffer === null ? '' : ' into a buffer';
      test(`reads of ${pages} cached pages${into}, ${name}: no generator, and nothing is allocated`, () => {
        const calls = 100_000 / pages ** 0.5;
        const simulator = new Simulator();
        const fileSystem = (environment: FsEnvironment): MemFs => new MemFs(environment);
        const host = new Host({ simulator, cache: cache(simulator), fileSystem });
        host.run(host.mount());
        const grown = host.run(growth(host.process().thread(), pages, calls, buffer));
        // A number that is boxed in every call makes 8 bytes or more.
        expect(grown).toBeLessThan(4 * calls);
      });
    }
  }
}
