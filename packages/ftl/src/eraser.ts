import { type NandArray, NandClass, type NandScheduler, NandStatus } from '@flashstack/nand-device';
import { BlockState, type BlockTable } from './block-table.js';
import type { Frontiers } from './frontier.js';
import { Done, type FrontierOwner } from './frontier-parts.js';
import type { FtlProbe } from './probe.js';
import { releaseHolds } from './settle.js';
import { SlotFlag } from './slot-contents.js';
import type { FtlStats } from './stats.js';

/** What the eraser needs of the FTL around it. */
export interface EraserOwner extends FrontierOwner {
  /**
   * Before `block` is erased: make durable what keeps older versions of its trimmed slots from coming back. False if
   * there is no room for it now.
   */
  beforeErase(block: number, domain: number): boolean;
  /** True if slots of `block` were trimmed: what makes the trims durable may still be in flight. */
  hasTrims(block: number): boolean;
  /** `block` has been erased, and trimmed data with it. */
  trimsErased(block: number): void;
  /** The content of an erased slot is gone; `flags` as in `SlotFlag`. */
  contentDead(word: number, flags: number): void;
}

/** What an eraser works on. */
export interface EraserParts {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly frontiers: Frontiers;
  readonly stats: FtlStats;
  readonly owner: EraserOwner;
}

/**
 * Erases emptied blocks, each when nothing that supersedes its data can vanish any more, and gives them back to the free
 * pool when the erase is done. Members that failed are retired instead.
 */
export class BlockEraser {
  /** Blocks of the domain whose erase is in flight or waits. */
  readonly erasing: Int32Array;
  scheduler: NandScheduler;
  probe: FtlProbe | null = null;
  /** Of those, blocks that wait until data that supersedes theirs is issued. */
  private readonly waiting: Int32Array;
  private readonly ready: number[] = [];
  /** Blocks that wait for room to make trims durable: tried again whenever an erase is done. */
  private readonly blocked: number[] = [];
  /** Erases of blocks that are in flight on the whole device. */
  inFlightTotal = 0;
  /** Nothing is erased any more: data that could not be written anywhere may have an older version in any block. */
  private frozen = false;
  /** Physical blocks that failed: retired once their block is empty. */
  private readonly failing: Set<number> = new Set();
  private readonly parts: EraserParts;

  constructor(parts: EraserParts, scheduler: NandScheduler) {
    this.parts = parts;
    this.scheduler = scheduler;
    this.erasing = new Int32Array(parts.table.domains);
    this.waiting = new Int32Array(parts.table.domains);
  }

  /** `physicalBlock` failed: it is not erased again. */
  fail(physicalBlock: number): void {
    this.failing.add(physicalBlock);
  }

  /** From now on until a power cut, no erase is begun. */
  freeze(): void {
    this.frozen = true;
  }

  /** The block holds no valid slot any more: erase it as soon as that is safe. */
  emptied(block: number, domain: number): void {
    const { table, frontiers } = this.parts;
    table.state[block] = BlockState.erasing;
    this.erasing[domain]++;
    if (frontiers.heldBy[block] > 0) this.waiting[domain]++;
    else this.erase(block, domain);
  }

  /** Everything that supersedes data of `block` is issued. Its erase follows at the next `serveReady`. */
  released(block: number): void {
    this.ready.push(block);
  }

  get hasReady(): boolean {
    return this.ready.length > 0;
  }

  /** Erases blocks that no longer wait. Called between operations, since it may write to frontiers itself. */
  serveReady(): void {
    for (let block = this.ready.shift(); block !== undefined; block = this.ready.shift()) {
      const domain = this.parts.table.domainOf(block);
      this.waiting[domain]--;
      this.erase(block, domain);
    }
  }

  /** Blocks that waited for room may be tried again at the next `serveReady`. */
  retry(): void {
    this.ready.push(...this.blocked.splice(0));
  }

  /** True if an erase of the domain has been issued and is not done. */
  inFlight(domain: number): boolean {
    return this.erasing[domain] > this.waiting[domain];
  }

  /** Pads what the waiting blocks of the domain wait for; true if any waited. */
  releaseWaiting(domain: number): boolean {
    if (this.waiting[domain] === 0) return false;
    const { table, frontiers } = this.parts;
    const end = (domain + 1) * table.blocksPerDomain;
    for (let block = domain * table.blocksPerDomain; block < end; block++) {
      if (table.state[block] === BlockState.erasing && frontiers.heldBy[block] > 0) releaseHolds(frontiers, block);
    }
    this.serveReady();
    return true;
  }

  /** The erase of `block` is done. @returns its domain. */
  erased(block: number): number {
    const { array, table, stats } = this.parts;
    const domain = table.domainOf(block);
    const from = block * table.members;
    let retired = false;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[from + i];
      this.forgetContents(physical);
      if (!this.failing.delete(physical)) continue;
      array.markBad(physical);
      stats.retired++;
      retired = true;
      if (this.probe !== null) this.probe.retired(physical);
    }
    this.parts.owner.trimsErased(block);
    if (retired) table.dropBadMembers(block, array.bad);
    this.erasing[domain]--;
    this.inFlightTotal--;
    this.retry();
    table.valid[block] = 0;
    if (table.capacity[block] > 0) table.release(block);
    if (this.probe !== null) this.probe.erased(block);
    return domain;
  }

  /** Forgets what is under way: power loss. */
  reset(): void {
    this.erasing.fill(0);
    this.waiting.fill(0);
    this.ready.length = 0;
    this.blocked.length = 0;
    this.inFlightTotal = 0;
    this.frozen = false;
    this.failing.clear();
  }

  /** Slots of a physical block give up their content words. */
  forgetContents(physical: number, fromPage = 0): void {
    const { array, owner, table } = this.parts;
    const { flags, word } = array;
    if (flags === null || word === null) return;
    const end = (physical + 1) * table.slotsPerMember;
    const first = physical * table.slotsPerMember + fromPage * array.geometry.slotsPerPage;
    for (let psn = first; psn < end; psn++) {
      if ((flags[psn] & SlotFlag.handle) === 0) continue;
      owner.contentDead(word[psn], flags[psn]);
      flags[psn] = 0;
    }
  }

  private erase(block: number, domain: number): void {
    const { table, owner, stats, array } = this.parts;
    const { scheduler } = this;
    if (this.frozen || !owner.beforeErase(block, domain)) {
      this.waiting[domain]++;
      this.blocked.push(block);
      return;
    }
    if (this.probe !== null) this.probe.erasing(block);
    const from = block * table.members;
    let all = 0;
    table.eraseCount[block]++;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[from + i];
      if (this.failing.has(physical)) {
        // Recovery does not read what is retired: like an erase, that waits until the newer versions are durable.
        all = scheduler.join(all, scheduler.fence());
        continue;
      }
      // Programs in flight that supersede data of the block guard it; what makes its trims durable is behind a fence.
      const after = owner.hasTrims(block) ? scheduler.fence() : 0;
      const token = scheduler.erase(physical, NandClass.gcErase, after);
      stats.erases++;
      if (array.reliability !== null && scheduler.status[token] === NandStatus.eraseFailed) {
        stats.eraseFailures++;
        this.failing.add(physical);
      }
      all = scheduler.join(all, token);
    }
    this.inFlightTotal++;
    scheduler.then(all, owner.completions, (block << 3) | Done.erase);
  }
}
