import { BlockLayer, Host } from '@flashstack/host';
import { Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { OpenFlag, PAGE_BYTES, type Thread } from '@flashstack/vfs';
import { formatMiniJournal, MiniJournalFs } from '../src/index.js';

/** What the runner of the project times: `run` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
  readonly bar?: number;
  report?(): Record<string, string>;
}

/** The file is as large as memory for pages, so that little is written twice before it goes to the drive. */
const FILE_PAGES = 32_768;
const MEMORY_BYTES = FILE_PAGES * PAGE_BYTES;

/** A host whose files lie on a drive, with one file that is written whole. */
class Stack {
  readonly simulator: Simulator = new Simulator();
  readonly drive: Ssd;
  readonly layer: BlockLayer;
  readonly host: Host;
  readonly thread: Thread;
  readonly fd: number;

  constructor() {
    const { simulator } = this;
    const preset = resolvePreset('sata-840-pro-class', { capacity: 2 ** 30 });
    this.drive = new Ssd(simulator, { ...preset, keeps: 'contents' });
    const layer = new BlockLayer(simulator, this.drive);
    this.layer = layer;
    runTask(simulator, formatMiniJournal(layer, { inodes: 1024 }));
    const memory = new PageMemory(simulator, { memoryBytes: MEMORY_BYTES });
    const limits = { raPages: 32, ioPages: 320 };
    const cache = new LinuxPageCache(memory, layer, { policy: new Linux6Readahead(), limits });
    this.host = new Host({ simulator, cache, fileSystem: (environment) => new MiniJournalFs(layer, environment) });
    this.host.run(this.host.mount());
    this.thread = this.host.process().thread();
    this.fd = this.host.run(this.open());
    this.write(FILE_PAGES, (at) => at);
  }

  /** So many writes of a page, and what they have left is written back too. */
  write(n: number, page: (at: number) => number): void {
    this.host.run(this.writes(n, page));
  }

  private *open(): Task<number> {
    const fd = this.thread.open('/file', OpenFlag.create | OpenFlag.readWrite);
    return typeof fd === 'number' ? fd : yield* fd;
  }

  private *writes(n: number, page: (at: number) => number): Task<void> {
    for (let at = 0; at < n; at++) {
      const done = this.thread.pwrite(this.fd, null, PAGE_BYTES, page(at) * PAGE_BYTES);
      if (typeof done !== 'number') yield* done;
    }
    const synced = this.thread.fsync(this.fd);
    if (typeof synced !== 'number') yield* synced;
  }
}

function writes(name: string, page: (at: number) => number): Benchmark {
  const stack = new Stack();
  return {
    name,
    n: 200_000,
    bar: 250_000,
    run: (n) => stack.write(n, page),
    report() {
      const { issued, queued } = stack.layer.stats;
      return {
        'requests queued': String(queued),
        'requests issued': String(issued),
        'simulated s': (stack.simulator.now / 1e9).toFixed(2),
      };
    },
  };
}

let state = 1;
function randomPage(): number {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % FILE_PAGES;
}

/** Buffered writes of 4 KiB on a journaling file system on a drive: CPU time of all layers, write-back included. */
export const benchmarks: Benchmark[] = [
  writes('sequential writes and their write-back, file system on a drive', (at) => at % FILE_PAGES),
  writes('random writes and their write-back, file system on a drive', randomPage),
];
