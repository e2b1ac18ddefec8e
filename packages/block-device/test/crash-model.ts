import type { CrashRequest } from '../src/crash/index.js';
import { BlockOp } from '../src/index.js';

/** One recorded request and what it wrote: a label per sector. */
export interface Written extends CrashRequest {
  readonly labels: readonly string[];
  readonly fua: boolean;
  readonly flushes: boolean;
}

/** By definition, without any economy: all images that a cut at a position may leave, each as its labels in one string. */
export class LegalImages {
  private readonly log: readonly Written[];
  private readonly blocks: number;
  private readonly sectors: number;

  constructor(log: readonly Written[], blocks: number, sectors: number) {
    this.log = log;
    this.blocks = blocks;
    this.sectors = sectors;
  }

  at(t: number, model: string): Set<string> {
    const lies = model.startsWith('lying') ? Number(model.slice(6, -1)) : 0;
    const promises = this.log
      .filter((row) => row.done <= t && (row.fua || row.flushes))
      .sort((a, b) => a.done - b.done);
    const kept = new Set(promises.slice(0, Math.max(0, promises.length - lies)));
    const images = new Set<string>();
    const issued = this.log.filter((row) => row.issued <= t && row.count > 0);
    const flying = issued.filter((row) => row.flushes && row.done > t && lies === 0);
    // A write that flushes first writes only when all that it covers is durable: its flush is done or not.
    for (const flushed of [0, ...flying.map((row) => row.issued)]) {
      const begun = issued.filter((row) => !flying.includes(row) || row.issued <= flushed);
      const durable = (row: Written): boolean => {
        if (row.done > t) return false;
        if (model === 'protected' || (row.fua && kept.has(row)) || row.done < flushed) return true;
        return [...kept].some((promise) => promise.flushes && promise.issued > row.done);
      };
      for (const image of this.cases(begun, durable, t, model)) images.add(image);
    }
    return images;
  }

  private cases(issued: Written[], durable: (row: Written) => boolean, t: number, model: string): Set<string> {
    if (model !== 'ordered') return this.product(issued, issued.filter(durable), t, model);
    const images = new Set<string>();
    const volatile = issued.filter((row) => row.done <= t && !durable(row)).sort((a, b) => a.done - b.done);
    for (let end = 0; end <= volatile.length; end++) {
      const there = issued.filter((row) => !volatile.slice(end + 1).includes(row));
      const certain = issued.filter((row) => durable(row) || volatile.slice(0, end).includes(row));
      for (const image of this.product(there, certain, t, model)) images.add(image);
    }
    return images;
  }

  private product(rows: Written[], certain: Written[], t: number, model: string): Set<string> {
    let images = [''];
    for (let block = 0; block < this.blocks; block++) {
      const possible = this.block(block, rows, certain, t, model);
      images = images.flatMap((image) => [...possible].map((labels) => `${image}|${labels}`));
    }
    return new Set(images);
  }

  private block(block: number, rows: Written[], certain: Written[], t: number, model: string): Set<string> {
    const mine = rows.filter((row) => row.block <= block && block < row.block + row.count);
    const last = mine.findLast((row) => certain.includes(row) && row.op !== BlockOp.discard);
    const label = (row: Written | undefined): string[] =>
      row === undefined
        ? Array.from({ length: this.sectors }, () => 'start')
        : row.labels.slice((block - row.block) * this.sectors, (block - row.block + 1) * this.sectors);
    const later = mine.filter((row) => row.op !== BlockOp.discard && row.issued > (last?.issued ?? 0));
    const trims = mine.filter(
      (row) =>
        row.op === BlockOp.discard &&
        !mine.some((write) => certain.includes(write) && write.op !== BlockOp.discard && write.issued > row.done),
    );
    const torn = model === 'torn' ? later.filter((row) => row.done > t) : [];
    const whole = [last, ...later.filter((row) => !torn.includes(row)), ...trims].map((row) => label(row));
    const possible = new Set<string>();
    for (const base of whole) {
      let mixes: string[][] = [[]];
      for (let sector = 0; sector < this.sectors; sector++) {
        const choices = [base[sector], ...torn.map((row) => label(row)[sector])];
        mixes = mixes.flatMap((mix) => choices.map((choice) => [...mix, choice]));
      }
      for (const mix of mixes) possible.add(mix.join());
    }
    if (model === 'unreadable' && later.some((row) => row.done > t)) possible.add('unreadable');
    return possible;
  }
}
