import { PADDING_LPN } from '@flashstack/nand-device';
import { InputError, type RandomStream, resolveParameters } from '@flashstack/sim';
import type { PopularityClass } from './analytic.js';
import type { DriveFtl } from './contract.js';
import { PageMapFtl } from './page-map.js';
import { blockCounts, checkSlots, type PreconditionReport } from './precondition.js';
import { FROM_NOTHING, UNMAPPED } from './slot-contents.js';
import {
  type ClassCounts,
  dChoicesCounts,
  fifoCounts,
  greedyCounts,
  type StationaryDomain,
  shuffle,
} from './stationary.js';
import { victimKinds } from './victims/kinds.js';

/** The random single-slot writes that have brought the drive into steady state. */
export type AnalyticWorkload =
  | { readonly kind: 'uniform' }
  | {
      readonly kind: 'hotCold';
      /** Share of the writes that go to hot slots, and share of the slots in use that are hot. */
      readonly hotWrites: number;
      readonly hotSlots: number;
      /** True for hot slots; must agree with `hotSlots`. Default: the first ones. */
      readonly isHot?: (lpn: number) => boolean;
    };

/** How a drive is put into steady state without writing. */
export interface AnalyticPlan {
  readonly workload: AnalyticWorkload;
  /** Draws the mapping. */
  readonly random: RandomStream;
  /** Slots in use, from 0 on. Default: all logical slots. */
  readonly slots?: number;
  /** Origin of the data. Default 0. */
  readonly origin?: number;
}

/** Why there is no known steady state for this FTL and workload, or null if there is one. */
export function analyticRefusal(ftl: DriveFtl, workload: AnalyticWorkload): string | null {
  if (!(ftl instanceof PageMapFtl)) return 'a steady state is known only for page mapping';
  if (ftl.mapCache !== null) return 'no steady state of a map in flash is known';
  const { name } = ftl.victimName;
  const known = workload.kind === 'uniform' ? ['greedy', 'fifo', 'random', 'd-choices'] : ['fifo'];
  if (!known.includes(name)) {
    return `no steady state is known for ${workload.kind} writes with victim policy ${name === '' ? 'of your own' : `"${name}"`}`;
  }
  if (ftl.layout.host > 1 || ftl.allocator.anyGroup > 0) return 'no steady state is known for several streams';
  if (workload.kind === 'hotCold' && ftl.options.placement !== 'mixed') {
    return 'the steady state of hot and cold data is known only for placement "mixed"';
  }
  if (ftl.stats.host > 0 || ftl.frontiers.openings > 0) return 'the drive has been written to already';
  return null;
}

/**
 * Puts a new drive into the steady state of random single-slot writes, by drawing the valid slots of each block from
 * the stationary distribution of the victim policy and logical slots at random. Contents are zero; no wear is counted.
 * @throws InputError `ERR_FTL_PRECONDITION` where no stationary distribution is known.
 */
export function preconditionAnalytically(ftl: DriveFtl, plan: AnalyticPlan): PreconditionReport {
  const refusal = analyticRefusal(ftl, plan.workload);
  if (refusal !== null || !(ftl instanceof PageMapFtl)) {
    throw new InputError(
      'ERR_FTL_PRECONDITION',
      `precondition: ${refusal}; precondition by writing instead`,
      'workload',
    );
  }
  new SteadyState(ftl, plan).build();
  return { written: 0, programmed: 0, ...blockCounts(ftl) };
}

class SteadyState {
  private readonly ftl: PageMapFtl;
  private readonly plan: AnalyticPlan;
  private readonly slots: number;
  private readonly classes: readonly PopularityClass[];
  /** Logical slots by (domain, class), shuffled within each; the map itself serves as the scratch array. */
  private readonly lpns: Int32Array;
  private readonly next: Int32Array;
  private readonly count: Int32Array;

  constructor(ftl: PageMapFtl, plan: AnalyticPlan) {
    this.ftl = ftl;
    this.plan = plan;
    this.slots = checkSlots(ftl, plan.slots);
    const { workload } = plan;
    this.classes =
      workload.kind === 'uniform'
        ? [{ writes: 1, slots: 1 }]
        : [
            { writes: workload.hotWrites, slots: workload.hotSlots },
            { writes: 1 - workload.hotWrites, slots: 1 - workload.hotSlots },
          ];
    this.lpns = ftl.frontiers.l2p;
    const groups = ftl.table.domains * this.classes.length;
    this.next = new Int32Array(groups);
    this.count = new Int32Array(groups);
  }

  build(): void {
    const { ftl } = this;
    const { domains } = ftl.table;
    this.deal();
    for (let domain = 0; domain < domains; domain++) this.buildDomain(domain);
    this.invert();
  }

  private classOf(lpn: number): number {
    const { workload } = this.plan;
    if (workload.kind === 'uniform') return 0;
    const hot = workload.isHot === undefined ? lpn < Math.round(workload.hotSlots * this.slots) : workload.isHot(lpn);
    return hot ? 0 : 1;
  }

  /** Deals the slots in use to domains and classes, at random unless placement is static. */
  private deal(): void {
    const { ftl, lpns, count, next, slots } = this;
    const kinds = this.classes.length;
    const { domains } = ftl.table;
    const fixed = ftl.options.allocation === 'static';
    const group = (lpn: number): number =>
      (fixed ? ftl.allocator.staticDomain(lpn, ftl.allocator.anyGroup) * kinds : 0) + this.classOf(lpn);
    for (let lpn = 0; lpn < slots; lpn++) count[group(lpn)]++;
    for (let g = 1; g < count.length; g++) next[g] = next[g - 1] + count[g - 1];
    const start = next.slice();
    for (let lpn = 0; lpn < slots; lpn++) lpns[next[group(lpn)]++] = lpn;
    for (let g = 0; g < count.length; g++) shuffle(lpns, start[g], start[g] + count[g], this.plan.random);
    next.set(start);
    if (fixed) return;
    // Any split of a shuffled list is random: the first `kinds` groups are cut into equal shares per domain.
    const total = count.slice(0, kinds);
    for (let k = 0; k < kinds; k++) {
      for (let domain = 0; domain < domains; domain++) {
        const from = Math.floor((total[k] * domain) / domains);
        next[domain * kinds + k] = start[k] + from;
        count[domain * kinds + k] = Math.floor((total[k] * (domain + 1)) / domains) - from;
      }
    }
  }

  private buildDomain(domain: number): void {
    const { ftl } = this;
    const { table, options, layout } = ftl;
    const kinds = this.classes.length;
    if (options.placement !== 'mixed') this.openGcFrontier(domain, domain * layout.total + layout.gc);
    // The moment before a victim is chosen: the host's next block takes the last but gcLow.
    const blocks = table.freeCount[domain] - options.gcLow - 1;
    const closed: number[] = [];
    let space = 0;
    for (let i = 0; i < blocks; i++) {
      const block = table.open(domain, options.freeOrder, 0);
      closed.push(block);
      space += table.capacity[block];
    }
    const data = Array.from(this.count.subarray(domain * kinds, (domain + 1) * kinds));
    const sum = data.reduce((a, b) => a + b, 0);
    // Blocks with bad members are smaller; the distribution is that of their mean size.
    const capacity = Math.floor(space / Math.max(1, blocks));
    if (blocks < 1 || sum >= blocks * capacity || sum < blocks) {
      throw new InputError(
        'ERR_FTL_PRECONDITION',
        `precondition: ${sum} slots in ${blocks} blocks of ${capacity} slots have no steady state; precondition by writing instead`,
        'slots',
      );
    }
    const counts = this.stationary({ blocks, capacity, data });
    for (let i = 0; i < blocks; i++) this.fillBlock(closed[i], domain, counts.subarray(i * kinds, (i + 1) * kinds));
  }

  private stationary(domain: StationaryDomain): ClassCounts {
    const { name, parameters } = this.ftl.victimName;
    const { random } = this.plan;
    if (name === 'greedy') return greedyCounts(domain);
    if (name === 'fifo') return fifoCounts(domain, this.classes, random);
    const kind = victimKinds.find((other) => other.name === name) as (typeof victimKinds)[number];
    return dChoicesCounts(domain, name === 'random' ? 1 : (resolveParameters(kind, parameters).d as number), random);
  }

  /** Relocated data has a frontier of its own, somewhere between empty and full: all of it is still valid. */
  private openGcFrontier(domain: number, f: number): void {
    const { frontiers, table, options, array } = this.ftl;
    const kinds = this.classes.length;
    frontiers.open(f, domain, options.gcFreeOrder);
    const block = frontiers.block[f];
    const rows = array.geometry.pagesPerBlock / array.geometry.programPages;
    const filled = Math.floor(((domain + 0.5) / table.domains) * rows);
    if (filled === 0) return;
    frontiers.resume(f, block, filled);
    const pages = filled * array.geometry.programPages;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      array.nextPage[physical] = pages;
      const first = physical * table.slotsPerMember;
      for (let psn = first; psn < first + pages * array.geometry.slotsPerPage; psn++) {
        this.put(psn, block, domain * kinds);
      }
    }
  }

  /** Closes a block with the given number of valid slots of each class, at random places. */
  private fillBlock(block: number, domain: number, counts: Int32Array): void {
    const { table, array, victimPolicy, frontiers } = this.ftl;
    const { random } = this.plan;
    const kinds = counts.length;
    const left = counts.slice();
    let valid = left.reduce((a, b) => a + b, 0);
    let places = table.capacity[block];
    frontiers.openings++;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      array.nextPage[physical] = array.geometry.pagesPerBlock;
      array.openSeq[physical] = frontiers.openings;
      const first = physical * table.slotsPerMember;
      for (let psn = first; psn < first + table.slotsPerMember; psn++, places--) {
        if (valid === 0 || (valid < places && random.below(places) >= valid)) {
          this.putNothing(psn);
          continue;
        }
        let k = 0;
        if (kinds > 1) for (let at = random.below(valid); at >= left[k]; k++) at -= left[k];
        left[k]--;
        valid--;
        this.put(psn, block, domain * kinds + k);
      }
    }
    table.close(block);
    victimPolicy.closed(block);
  }

  private put(psn: number, block: number, group: number): void {
    const { array, table, frontiers } = this.ftl;
    const { contents } = frontiers;
    array.lpn[psn] = this.lpns[this.next[group]++];
    array.origin[psn] = this.plan.origin ?? 0;
    this.count[group]--;
    table.valid[block]++;
    contents?.fill(psn, array.lpn[psn], FROM_NOTHING, -1);
  }

  private putNothing(psn: number): void {
    this.ftl.array.lpn[psn] = PADDING_LPN;
    this.ftl.frontiers.contents?.pad(psn);
  }

  /** The map was scratch space until now: it becomes the inverse of what the blocks hold. */
  private invert(): void {
    const { array, table, frontiers } = this.ftl;
    frontiers.l2p.fill(UNMAPPED);
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      const first = physical * table.slotsPerMember;
      const end = first + array.nextPage[physical] * array.geometry.slotsPerPage;
      for (let psn = first; psn < end; psn++) if (array.lpn[psn] !== PADDING_LPN) frontiers.l2p[array.lpn[psn]] = psn;
    }
  }
}
