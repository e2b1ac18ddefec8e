import { type NandArray, type NandClient, type NandScheduler, NandStatus, type Token } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import { diesInOrder, unitsInOrder } from '../allocation.js';
import { BlockTable } from '../block-table.js';
import { type DriveFtl, FtlStatus } from '../contract.js';
import { BlockEraser } from '../eraser.js';
import { FtlError } from '../errors.js';
import { Done } from '../frontier-parts.js';
import { HostReads } from '../host-reads.js';
import { Jobs } from '../jobs.js';
import type { FtlParts } from '../mapping.js';
import { mappingTableBytes } from '../mapping-size.js';
import type { RecoveryReport } from '../oob-scan.js';
import { type ResolvedFtlOptions, resolveFtlOptions } from '../options.js';
import type { FtlProbe } from '../probe.js';
import { UNMAPPED } from '../slot-contents.js';
import { FtlStats } from '../stats.js';
import { TrimMap } from '../trim-map.js';
import { BlockCopier } from './block-copier.js';
import { chooseLogBlocks, wholeBlocks } from './capacity.js';
import { DataBlocks } from './data-blocks.js';
import { recoverHybrid } from './hybrid-recovery.js';
import { HybridUpkeep } from './hybrid-upkeep.js';
import { HybridWrites } from './hybrid-writes.js';
import { inspectHybrid } from './inspect-hybrid.js';
import { HybridLayout } from './layout.js';
import { Locality } from './locality.js';
import { LogBlocks } from './log-blocks.js';
import { LogMap } from './log-map.js';
import { Merger } from './merger.js';
import { MetaArea } from './meta-area.js';
import { PlacedFrontiers } from './placed-frontiers.js';
import type { SastShape } from './sast.js';
import type { HybridSpec, LogScheme, SchemeParts } from './scheme.js';
import { FrontierNumbers, Space } from './space.js';

/** Block frontiers tell nobody which blocks are candidates: schemes choose what they merge themselves. */
const noVictims = {
  attach(): void {},
  closed(): void {},
  invalidated(): void {},
  removed(): void {},
  choose: (): number => -1,
  reset(): void {},
};

/**
 * Block and hybrid mapping: a block map, and log blocks with a page map of their own. The scheme (`LogScheme`) decides where
 * the next slot goes and what is merged. Every domain is a hybrid of its own; slots are striped over them.
 */
export class HybridFtl implements DriveFtl, NandClient {
  readonly appendOnly = false;
  readonly logicalSlots: number;
  readonly options: ResolvedFtlOptions;
  readonly stats: FtlStats = new FtlStats();
  readonly array: NandArray;
  /** Columns of the allocation blocks, read-only for users. */
  readonly table: BlockTable;
  /** Log blocks of a domain. */
  readonly logBlocks: number;
  /** @internal */
  readonly layout: HybridLayout;
  /** @internal */
  readonly frontiers: PlacedFrontiers;
  /** @internal */
  readonly eraser: BlockEraser;
  /** @internal */
  readonly trimMap: TrimMap;
  /** @internal */
  readonly meta: MetaArea;
  /** @internal */
  readonly map: LogMap;
  /** @internal */
  readonly data: DataBlocks;
  /** @internal */
  readonly logs: LogBlocks;
  /** @internal */
  readonly numbers: FrontierNumbers;
  /** @internal */
  readonly merger: Merger;
  /** @internal */
  readonly upkeep: HybridUpkeep;
  /** @internal */
  readonly jobs: Jobs;
  /** @internal */
  readonly scheme: LogScheme;
  /** @internal */
  scheduler: NandScheduler;
  private readonly spec: HybridSpec;
  private readonly copier: BlockCopier;
  private readonly reads: HostReads;
  private readonly writes: HybridWrites;
  /** @internal */
  readonly locality: Locality;

  /**
   * The array must be empty, except for a call of `recover` right after.
   * @throws InputError for options that are wrong or leave too few spare blocks.
   */
  constructor(parts: FtlParts, spec: HybridSpec) {
    const { array, scheduler, client } = parts;
    const options = resolveFtlOptions(parts.options, array, 1);
    const g = array.geometry;
    this.spec = spec;
    this.options = options;
    this.array = array;
    this.scheduler = scheduler;
    this.logicalSlots = options.logicalSlots;
    this.locality = new Locality(Math.ceil(spec.sequentialBytes / g.config.slotBytes), options.logicalSlots);
    const { freeOrder, gcFreeOrder } = options;
    const dies = diesInOrder(g, options.order);
    const sorted = freeOrder !== 'fifo' || gcFreeOrder !== 'fifo';
    const table = new BlockTable(array, options.domain, dies, sorted, true);
    this.table = table;
    this.trimMap = new TrimMap(options.logicalSlots, table, array);
    const planes = options.multiPlane ? Math.min(table.members, g.planes) : 1;
    const unit = planes * g.programPages * g.slotsPerPage;
    const domains = { unit: unitsInOrder(g, options.order), die: dies, superblock: Int32Array.of(0) }[options.domain];
    this.layout = new HybridLayout(table, g, unit, domains, options.logicalSlots);
    const { stats, trimMap, layout } = this;
    this.logBlocks = chooseLogBlocks(spec, layout, table, trimMap, array);
    this.numbers = new FrontierNumbers(this.logBlocks);
    const { numbers } = this;
    this.map = new LogMap(table.domains * this.logBlocks * layout.slotsPerBlock);
    const { map } = this;
    this.meta = new MetaArea({ array, table, stats, trimMap, numbers, unit }, scheduler);
    const { meta } = this;
    this.upkeep = new HybridUpkeep({ array, table, stats, client, trimMap, completions: this, meta, numbers, map });
    const { upkeep } = this;
    const shared = { array, table, stats, policy: noVictims, owner: upkeep };
    this.frontiers = new PlacedFrontiers(
      {
        ...shared,
        scheduler,
        client,
        perDomain: numbers.perDomain,
        mappedSlots: options.logicalSlots + trimMap.pages,
        multiPlane: options.multiPlane,
      },
      map,
      layout,
    );
    const { frontiers } = this;
    this.eraser = new BlockEraser({ ...shared, frontiers }, scheduler);
    const { eraser } = this;
    this.meta.attach(frontiers, eraser, upkeep);
    const space = new Space(array, table, frontiers, meta);
    this.data = new DataBlocks({ table, layout, frontiers, eraser, space, numbers, order: gcFreeOrder });
    const owners = layout.logicalBlocks * layout.domains;
    this.logs = new LogBlocks(table, frontiers, numbers, space, freeOrder, owners);
    const { data, logs } = this;
    this.copier = new BlockCopier({ array, layout, frontiers, stats, upkeep }, scheduler);
    const { copier } = this;
    const { ownedByBlocks } = spec;
    const mergerParts = { table, layout, frontiers, eraser, stats, data, logs, map, space, numbers, copier };
    this.merger = new Merger({ ...mergerParts, order: gcFreeOrder, ownedByBlocks });
    this.jobs = new Jobs(client, array, scheduler, this);
    this.upkeep.attach({ frontiers, eraser, jobs: this.jobs, layout, data, logs, merger: this.merger, space });
    this.scheme = spec.make(this.schemeParts());
    this.reads = new HostReads(this, client);
    this.writes = new HybridWrites(this);
  }

  private schemeParts(): SchemeParts {
    const { table, layout, frontiers, data, logs, merger } = this;
    return { table, layout, frontiers, data, logs, merger };
  }

  /** Listener for events inside the FTL, or null. */
  set probe(probe: FtlProbe | null) {
    this.frontiers.probe = probe;
    this.eraser.probe = probe;
    this.copier.probe = probe;
    this.merger.probe = probe;
  }

  get probe(): FtlProbe | null {
    return this.frontiers.probe;
  }

  /** Name of the scheme. */
  get name(): string {
    return this.spec.name;
  }

  get tables(): readonly BlockTable[] {
    return [this.table];
  }

  get gcLow(): number {
    return this.options.gcLow;
  }

  get isUnused(): boolean {
    return this.frontiers.openings === 0;
  }

  get tableBytes(): number {
    const { slotBytes } = this.array.config.geometry;
    const space = {
      capacityBytes: this.logicalSlots * slotBytes,
      slotBytes,
      blockBytes: this.layout.slotsPerBlock * slotBytes,
    };
    if (this.spec.name === 'block') return mappingTableBytes('block', space);
    return mappingTableBytes('hybrid', { ...space, logBlocks: this.logBlocks * this.table.domains });
  }

  get mapBytes(): number {
    return (
      this.frontiers.l2p.byteLength + this.table.bytes + this.data.bytes + this.map.byteLength + this.locality.bytes
    );
  }

  get doneParkedNs(): number {
    return this.jobs.doneParkedNs;
  }

  /** Logical slots whose reads fail until they are written or trimmed. */
  get lost(): ReadonlySet<number> {
    return this.upkeep.lost;
  }

  get readOnly(): boolean {
    return this.upkeep.readOnly;
  }

  get leastSpareBlocks(): number {
    const { table, layout } = this;
    let least = Infinity;
    for (let domain = 0; domain < table.domains; domain++) {
      least = Math.min(least, wholeBlocks(table, domain) - layout.logicalBlocks);
    }
    return Math.max(0, least);
  }

  get isIdle(): boolean {
    return this.jobs.active === 0 && this.eraser.inFlightTotal === 0;
  }

  attachScheduler(scheduler: NandScheduler): void {
    if (!this.isIdle)
      throw new FtlError('ERR_FTL_BUSY', 'attachScheduler: jobs or erases are in flight; finish them first');
    this.scheduler = scheduler;
    this.jobs.scheduler = scheduler;
    this.frontiers.attach(scheduler);
    this.eraser.scheduler = scheduler;
    this.copier.scheduler = scheduler;
    this.meta.scheduler = scheduler;
  }

  read(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    this.reads.read(lpn, count, job);
  }

  announce(lpn: number, count: number): void {
    this.check(lpn, count);
    this.locality.announce(lpn, count);
  }

  /** Streams are ignored: where a slot goes is the scheme's business. */
  write(lpn: number, count: number, origin: number, _stream: number, job: number): void {
    this.check(lpn, count);
    this.writes.write(lpn, count, origin, this.locality.isSequential(lpn, count) ? 1 : 0, job);
  }

  trim(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    this.writes.trim(lpn, count, job);
  }

  flush(job: number): void {
    this.writes.flush(job);
  }

  writeUnattended(lpn: number, origin: number): boolean {
    return this.writes.writeUnattended(lpn, origin);
  }

  /**
   * Uses idle dies until `untilNs`: writes again what is hard to read, and with `idleMerge` merges a log block of each
   * domain that has none left, if the time is enough for copying a block.
   */
  idle(untilNs: number): void {
    this.upkeep.requireRefresh();
    this.upkeep.serve();
    if (!this.spec.idleMerge || untilNs - this.array.clock.now < this.blockCopyNs()) return;
    for (let domain = 0; domain < this.table.domains; domain++) this.scheme.mergeAhead(domain);
    this.upkeep.serve();
  }

  /**
   * Merges all log blocks, as far as there are free blocks to do it: true when none is left. If false, it may be tried again
   * when erases are done.
   */
  mergeAll(): boolean {
    let all = true;
    for (let domain = 0; domain < this.table.domains; domain++) all = this.scheme.mergeAll(domain) && all;
    this.upkeep.serve();
    return all;
  }

  /**
   * SAST: other groups from now on, without a pause. Log blocks of the present groups are reclaimed when the pool is empty.
   * @throws InputError `ERR_FTL_OPTION` for another scheme, or numbers that are no integers from 1 on, or more log blocks a
   * group than there are.
   */
  reconfigure(shape: SastShape): void {
    const wrong = (key: string, found: unknown, expected: string): InputError =>
      new InputError('ERR_FTL_OPTION', `reconfigure: ${key}: found ${String(found)}, expected ${expected}`, key);
    if (this.scheme.reconfigure === undefined) throw wrong('ftl.mapping', this.name, 'sast, whose groups can change');
    for (const [key, most] of [
      ['dataBlocks', this.layout.logicalBlocks],
      ['logBlocksPerGroup', this.logBlocks],
    ] as const) {
      if (!Number.isSafeInteger(shape[key]) || shape[key] < 1 || shape[key] > most) {
        throw wrong(key, shape[key], `an integer from 1 to ${most}`);
      }
    }
    this.scheme.reconfigure(shape);
  }

  powerCut(): void {
    this.stats.dropped += this.stats.pending;
    this.frontiers.reset();
    this.frontiers.l2p.fill(UNMAPPED);
    this.frontiers.role.fill(0);
    this.map.clear();
    this.data.reset();
    this.logs.reset();
    this.meta.reset();
    this.scheme.reset();
    this.eraser.reset();
    this.trimMap.reset();
    this.upkeep.reset();
    this.jobs.clear();
    this.writes.clear();
    this.locality.clear();
  }

  /**
   * Rebuilds the tables by a scan of all pages' OOB areas, after `powerCut`: from what each block holds it is a data block,
   * a log block, or one to be emptied.
   * @throws FtlError `ERR_FTL_RECOVERY` if the array keeps nothing.
   */
  recover(): RecoveryReport {
    const report = recoverHybrid(this);
    this.upkeep.serve();
    return report;
  }

  inspect(): void {
    inspectHybrid(this);
  }

  /** @internal Physical slot of `lpn` as the tables of the scheme say: its log map first, then its block map. */
  lookup(lpn: number): number {
    const { frontiers, layout, data } = this;
    // Stands for the bitmap of slots that hold nothing.
    if (frontiers.l2p[lpn] === UNMAPPED) return UNMAPPED;
    const logged = this.map.get(layout.keyOf(lpn));
    if (logged >= 0) return logged;
    const block = data.blockOf[layout.lbn];
    if (block < 0)
      throw new FtlError('ERR_FTL_ACCOUNTING', `slot ${lpn} is neither in a log block nor in a data block`);
    return layout.psnAt(block, layout.offset);
  }

  nandDone(token: Token, arg: number, status: number): void {
    const id = arg >> 3;
    switch (arg & 7) {
      case Done.job:
        if (status === NandStatus.uncorrectable) this.jobs.fail(id, FtlStatus.unreadable);
        this.jobs.partDone(id, token);
        return;
      case Done.unit:
        this.jobs.unitDone(this.frontiers.records, id, token);
        return;
      default:
        this.eraser.erased(id);
        this.upkeep.serve();
        this.writes.resume();
    }
  }

  private check(lpn: number, count: number): void {
    if (lpn >= 0 && count > 0 && lpn + count <= this.logicalSlots) return;
    throw new RangeError(`slots ${lpn} … ${lpn + count - 1} are not in 0 … ${this.logicalSlots - 1}`);
  }

  /** Time to copy one allocation block, page after page, ns. */
  private blockCopyNs(): number {
    const { timing } = this.array.config;
    const pageNs = Math.max(...timing.readNs) + Math.max(...timing.programNs) + 2 * timing.commandNs;
    return pageNs * this.array.geometry.pagesPerBlock;
  }
}
