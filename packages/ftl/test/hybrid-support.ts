import { InstantScheduler, type NandArray, type NandKeeps } from '@flashstack/nand-device';
import { RandomSource } from '@flashstack/sim';
import { createFtl, type FtlOptions, type HybridFtl } from '../src/index.js';
import { CountingClient, nandArray, type Shape } from './support.js';

/** A hybrid FTL where no time passes. */
export class HybridBed {
  readonly ftl: HybridFtl;
  readonly array: NandArray;
  readonly scheduler: InstantScheduler;
  readonly client: CountingClient = new CountingClient();

  constructor(shape: Shape, options: FtlOptions, keeps: NandKeeps = 'nothing') {
    this.array = nandArray(shape, keeps);
    this.scheduler = new InstantScheduler(this.array);
    const { array, scheduler, client } = this;
    this.ftl = createFtl({ array, scheduler, client, random: new RandomSource(1), options }) as HybridFtl;
  }

  /** Writes slots and lets everything finish. */
  write(lpn: number, count = 1): void {
    this.ftl.write(lpn, count, 0, 0, 0);
    this.scheduler.deliver();
  }

  trim(lpn: number, count: number): void {
    this.ftl.trim(lpn, count, 0);
    this.scheduler.deliver();
  }

  /** Merges all log blocks. */
  mergeAll(): void {
    while (!this.ftl.mergeAll()) this.scheduler.deliver();
    this.scheduler.deliver();
  }

  /** Copies, erased blocks and merges of each kind since the last call. */
  spent(): { copies: number; erases: number; switches: number; partials: number; fulls: number } {
    const { stats } = this.ftl;
    const spent = {
      copies: stats.moved[4],
      erases: stats.erases,
      switches: stats.switchMerges,
      partials: stats.partialMerges,
      fulls: stats.fullMerges,
    };
    if (stats.unexplained() !== 0) throw new Error(`${stats.unexplained()} slots are not accounted for`);
    stats.reset();
    return spent;
  }
}
