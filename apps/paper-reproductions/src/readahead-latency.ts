import { type BlockDevice, type BlockRequest, Origin } from '@flashstack/block-device';
import { Linux2637Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { Delay, type EventTarget, runTask, Simulator, type Task } from '@flashstack/sim';
import { FileKind, Inode, PAGE_BYTES } from '@flashstack/vfs';

/** Two pages of flash, array read and transfer: 130 µs each. */
const PAGE_NS = 260_000;
const FILE_PAGES = 1280;

/** The flash as a device that serves one request after the other and lets its user go on meanwhile. */
class FlashDevice implements BlockDevice, EventTarget {
  readonly blockBytes: number = PAGE_BYTES;
  readonly blockCount: number = FILE_PAGES;
  readonly features: BlockDevice['features'] = {
    fua: true,
    volatileCache: false,
    discard: false,
    atomicBlocks: 1,
    keeps: 'nothing',
  };
  private readonly simulator: Simulator;
  private readonly requests: BlockRequest[] = [];
  private busyUntilNs = 0;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  submit(request: BlockRequest): void {
    this.requests.push(request);
    this.busyUntilNs = Math.max(this.busyUntilNs, this.simulator.now) + request.count * PAGE_NS;
    this.simulator.at(this.busyUntilNs, this, 0);
  }

  fire(): void {
    const request = this.requests.shift();
    request?.owner.ioDone(request);
  }
}

/**
 * Mean time of a 4 KiB read of a file of 5 MiB read in order, with `gapNs` between reads. `synchronous`: as over MTD, whoever
 * has pages read waits for all of them.
 */
export function meanLatencyNs(gapNs: number, synchronous: boolean): number {
  const simulator = new Simulator();
  const delay = new Delay(simulator);
  const memory = new PageMemory(simulator, { memoryBytes: 64 * 2 ** 20 });
  const limits = { raPages: 32, ioPages: 32 };
  const device = synchronous ? null : new FlashDevice(simulator);
  const cache = new LinuxPageCache(memory, device, { policy: new Linux2637Readahead(), limits });
  const inode = new Inode(simulator, 1, FileKind.regular);
  inode.size = FILE_PAGES * PAGE_BYTES;
  function* readNow(first: number, count: number): Task<number> {
    yield delay.for(count * PAGE_NS);
    for (let page = first; page < first + count; page++) cache.mapping(inode).fill(page, null, page);
    return 0;
  }
  cache.attach({
    readPages(_inode, first, count, io) {
      if (synchronous) return readNow(first, count);
      io.read(first * PAGE_BYTES, count * PAGE_BYTES, first, Origin.fileData);
      return 0;
    },
    writePages() {
      throw new Error('nothing is written');
    },
  });
  function* program(): Task<number> {
    const reader = cache.reader(inode);
    let sum = 0;
    for (let page = 0; page < FILE_PAGES; page++) {
      const begun = simulator.now;
      const read = cache.read(inode, reader, page * PAGE_BYTES, PAGE_BYTES, null);
      if (typeof read !== 'number') yield* read;
      sum += simulator.now - begun;
      yield delay.for(gapNs);
    }
    return sum / FILE_PAGES;
  }
  return runTask(simulator, program());
}
