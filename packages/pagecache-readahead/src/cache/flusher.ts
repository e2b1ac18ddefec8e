import { Condition, type Task } from '@flashstack/sim';
import { WritebackReason } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import type { LinuxPageCache } from './linux-page-cache.js';
import { writeChunk, writeRange } from './write-back.js';

/** Write-back that nobody asks for: what has been dirty for long, what exceeds the background limit, what memory needs. */
export class Flusher {
  /** The daemon runs. */
  running = false;
  private readonly cache: LinuxPageCache;
  private readonly wake: Condition;
  private stopped = false;
  private woken = false;

  constructor(cache: LinuxPageCache) {
    this.cache = cache;
    this.wake = new Condition(cache.memory.simulator, 'something to write back');
  }

  /** The daemon, to be spawned as one. It ends after `stop`. */
  *task(): Task<void> {
    const { memory } = this.cache;
    if (this.stopped) return;
    this.running = true;
    memory.addFlusher(this);
    let nextLook = memory.simulator.now + memory.options.writebackIntervalNs;
    while (!this.stopped) {
      if (this.mustWrite()) {
        if ((yield* this.writeNext(WritebackReason.background)) === 0) yield memory.progress;
        continue;
      }
      this.woken = false;
      const left = nextLook - memory.simulator.now;
      if (left > 0) {
        yield this.wake.within(left);
        continue;
      }
      yield* this.writeExpired();
      nextLook = memory.simulator.now + memory.options.writebackIntervalNs;
    }
  }

  wakeUp(): void {
    if (this.woken) return;
    this.woken = true;
    this.wake.notifyAll();
  }

  /** Ends the daemon; dirty pages stay. */
  stop(): void {
    this.stopped = true;
    this.running = false;
    this.cache.memory.removeFlusher(this);
    this.wake.notifyAll();
    this.cache.memory.progress.notifyAll();
  }

  private mustWrite(): boolean {
    const { memory, dirtyFiles } = this.cache;
    if (dirtyFiles.first === null) return false;
    // A writer above the limit may need more room than what is above the background limit.
    return memory.shortOfMemory || memory.overLimit > 0 || memory.dirtyPages > memory.backgroundPages;
  }

  /** One chunk of the file that has been dirty longest, which goes to the end of the queue. */
  private *writeNext(reason: number): Task<number> {
    const { dirtyFiles } = this.cache;
    return yield* this.chunkOf(dirtyFiles.rotate() as FileMapping, reason);
  }

  private *chunkOf(file: FileMapping, reason: number): Task<number> {
    const { cache } = this;
    // One chunk is being written while the next is prepared.
    while (file.writes.length > 1) yield file.writes[0];
    const pages = file.nextToWrite(cache.memory.options.writebackChunkPages);
    return yield* writeChunk(cache, file, pages, reason);
  }

  private *writeExpired(): Task<void> {
    const { memory, dirtyFiles } = this.cache;
    const before = memory.simulator.now - memory.options.dirtyExpireNs;
    for (let left = dirtyFiles.length; left > 0 && !this.stopped; left--) {
      const file = dirtyFiles.rotate();
      if (file === null) return;
      if (file.dirtiedNs <= before) {
        yield* writeRange(this.cache, file, WritebackReason.background, 0, Number.POSITIVE_INFINITY, false);
      }
    }
  }
}
