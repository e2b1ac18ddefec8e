import { type NandArray, type NandClient, type NandScheduler, NandStatus, type Token } from '@flashstack/nand-device';
import { checkGroups, diesInOrder } from './allocation.js';
import { Allocator } from './allocator.js';
import { type BlockRange, BlockTable } from './block-table.js';
import { Collector } from './collector.js';
import { type DriveFtl, FtlStatus } from './contract.js';
import { BlockEraser } from './eraser.js';
import { FtlError } from './errors.js';
import { Frontiers } from './frontier.js';
import { type FrontierLayout, frontierLayout } from './frontier-layout.js';
import { Done } from './frontier-parts.js';
import { HostReads } from './host-reads.js';
import { HostWrites } from './host-writes.js';
import { inspect } from './inspect.js';
import { Jobs } from './jobs.js';
import { MapCache } from './map-cache/map-cache.js';
import { type MapCacheOptions, mapPages } from './map-cache/options.js';
import type { FtlParts } from './mapping.js';
import { mappingTableBytes } from './mapping-size.js';
import type { RecoveryReport } from './oob-scan.js';
import { checkCapacity, type ResolvedFtlOptions, resolveFtlOptions } from './options.js';
import type { FtlProbe } from './probe.js';
import { recoverMapping } from './recovery.js';
import { UNMAPPED } from './slot-contents.js';
import { FtlStats } from './stats.js';
import { type NamedStrategy, resolveStrategy, strategyName } from './strategy-choice.js';
import { type StreamPolicy, streamKinds } from './streams.js';
import { TrimMap } from './trim-map.js';
import { Upkeep } from './upkeep.js';
import { victimKinds } from './victims/kinds.js';
import type { VictimPolicy } from './victims/policy.js';
import { type StaticWearLeveling, staticWearLeveling } from './wear-leveling.js';

/** What an FTL that embeds page mapping gives it: a part of the array, and of the logical slots. */
export interface PageMapRegion {
  /** Block indices of every plane. */
  readonly range: BlockRange;
  /** Slots below are the host's; the others are used by whoever embeds the page map. */
  readonly hostSlots: number;
  /** At most so many slots, those of the trim map included, are mapped at a time. */
  readonly mostMapped: number;
  /** Counts what both do. */
  readonly stats: FtlStats;
}

/**
 * Page-mapping FTL: maps every logical slot to any physical slot. The map is in RAM, or cached there and kept in flash
 * (DFTL). Mapping is decided when an operation is issued, so
 * the order of issue is the order of mapping on every scheduler.
 */
export class PageMapFtl implements DriveFtl, NandClient {
  readonly appendOnly = false;
  readonly logicalSlots: number;
  readonly options: ResolvedFtlOptions;
  readonly stats: FtlStats;
  /** @internal Slots below are written for the host, those above for whoever embeds this FTL. */
  readonly hostSlots: number;
  /** Columns of the allocation blocks, read-only for users. */
  readonly table: BlockTable;
  readonly array: NandArray;
  /** @internal */
  readonly frontiers: Frontiers;
  /** @internal */
  readonly collector: Collector;
  /** @internal */
  readonly eraser: BlockEraser;
  /** @internal */
  readonly trimMap: TrimMap;
  /** @internal Null if the whole map is in RAM. */
  readonly mapCache: MapCache | null;
  /** Name and parameters of the victim policy; the name is empty for an object of the user's own. */
  readonly victimName: NamedStrategy;
  /** The same of the stream policy. */
  readonly streamsName: NamedStrategy;
  /** @internal */
  readonly victimPolicy: VictimPolicy;

  /** @internal */
  readonly writes: HostWrites;
  private readonly reads: HostReads;
  private readonly streams: StreamPolicy;
  private readonly wear: StaticWearLeveling | null;
  /** @internal */
  readonly allocator: Allocator;
  /** @internal */
  readonly upkeep: Upkeep;
  /** @internal */
  readonly layout: FrontierLayout;
  /** @internal */
  readonly jobs: Jobs;
  /** @internal */
  scheduler: NandScheduler;

  /**
   * The array must be empty, except for a call of `recover` right after. `cache`: how the map is cached; null: not at all.
   * `region`: the part of the device to work on, if it is not the whole.
   * @throws InputError for options that are wrong or leave too little space to collect garbage.
   */
  constructor(parts: FtlParts, cache: MapCacheOptions | null = null, region: PageMapRegion | null = null) {
    const { array, scheduler, client, random } = parts;
    // Collection may open a frontier for data and one for translation pages.
    const options = resolveFtlOptions(parts.options, array, cache === null ? 1 : 2);
    this.options = options;
    this.array = array;
    this.scheduler = scheduler;
    this.logicalSlots = options.logicalSlots;
    this.hostSlots = region?.hostSlots ?? options.logicalSlots;
    this.stats = region?.stats ?? new FtlStats();
    const g = array.geometry;
    const sorted = options.freeOrder !== 'fifo' || options.gcFreeOrder !== 'fifo';
    this.table = new BlockTable(array, options.domain, diesInOrder(g, options.order), sorted, false, region?.range);
    const streams = resolveStrategy(parts.options.streams, {
      key: 'ftl.streams',
      what: 'stream policy',
      fallback: 'none',
      kinds: streamKinds,
    });
    checkGroups(g, options.domain, streams.groups ?? 1);
    this.victimPolicy = resolveStrategy(parts.options.victim, {
      key: 'ftl.victim',
      what: 'victim policy',
      fallback: 'greedy',
      kinds: victimKinds,
    });
    this.victimName = strategyName(parts.options.victim, 'greedy');
    this.victimPolicy.attach(this.table, random.stream('ftl.victim'));
    this.layout = frontierLayout(options, streams, cache !== null);
    this.streams = streams;
    this.streamsName = strategyName(parts.options.streams, 'none');
    streams.attach(this.table, { logicalSlots: options.logicalSlots, layout: this.layout, stats: this.stats });
    this.trimMap = new TrimMap(options.logicalSlots, this.table, array);
    const firstMapSlot = options.logicalSlots + this.trimMap.pages;
    const pages = cache === null ? null : mapPages(cache, options.logicalSlots, array);
    const mappedSlots = firstMapSlot + (pages === null ? 0 : pages.pages * pages.slotsPerPage);
    checkCapacity(options, this.table, this.layout.total, region?.mostMapped ?? mappedSlots);
    const { table, stats } = this;
    this.jobs = new Jobs(client, array, scheduler, this);
    this.mapCache = cache === null || pages === null ? null : new MapCache(this, cache, pages, firstMapSlot);
    this.upkeep = new Upkeep({
      array,
      table,
      stats,
      client,
      trimMap: this.trimMap,
      mapCache: this.mapCache,
      layout: this.layout,
      streams,
      completions: this,
    });
    const shared = {
      array,
      table,
      stats,
      policy: this.victimPolicy,
      owner: this.upkeep,
      options,
      slotsPerPage: g.slotsPerPage,
    };
    this.frontiers = new Frontiers({
      ...shared,
      scheduler,
      client,
      perDomain: this.layout.total,
      mappedSlots,
      multiPlane: options.multiPlane,
    });
    this.frontiers.listener = this.mapCache;
    this.eraser = new BlockEraser({ ...shared, frontiers: this.frontiers }, scheduler);
    this.collector = new Collector({ ...shared, frontiers: this.frontiers, eraser: this.eraser }, scheduler);
    const { frontiers, layout, collector: room, logicalSlots } = this;
    const allocation = { table, frontiers, options, layout, streams, room, logicalSlots, firstMapSlot };
    this.allocator = new Allocator(allocation, scheduler);
    this.upkeep.attach(this.frontiers, this.collector, this.eraser, this.allocator, this.jobs);
    this.wear = staticWearLeveling(options.wearLevelling, table, random.stream('ftl.wearLevelling'));
    this.reads = new HostReads(this, client, this.mapCache);
    const isOne = streams.streams === 1 && (streams.groups ?? 1) === 1;
    this.writes = new HostWrites(this, isOne ? null : streams);
  }

  /** Listener for events inside the FTL, or null. */
  set probe(probe: FtlProbe | null) {
    this.frontiers.probe = probe;
    this.collector.probe = probe;
    this.eraser.probe = probe;
  }

  get probe(): FtlProbe | null {
    return this.frontiers.probe;
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
    if (this.mapCache !== null) return this.mapCache.tableBytes(slotBytes);
    return mappingTableBytes('page', { capacityBytes: this.logicalSlots * slotBytes, slotBytes });
  }

  /** Bytes of RAM that the simulation takes for the mapping: map and block table. */
  get mapBytes(): number {
    return this.frontiers.l2p.byteLength + this.table.bytes + (this.mapCache?.bytes ?? 0);
  }

  /** During `FtlClient.ftlDone`: how long slots of the job waited for a free block, ns. */
  get doneParkedNs(): number {
    return this.jobs.doneParkedNs;
  }

  /** During `FtlClient.ftlDone`: how long slots of the job waited for entries of the map that are kept in flash, ns. */
  get doneMapNs(): number {
    return this.jobs.doneMapNs;
  }

  /**
   * Logical slots whose data was lost in a relocation, or could not be written anywhere because the last blocks failed.
   * Reads of them fail until they are written or trimmed; of the latter, a version that was flushed before is back after
   * the next power cut and recovery.
   */
  get lost(): ReadonlySet<number> {
    return this.upkeep.lost;
  }

  /** True once the drive has too few good blocks left to take writes. */
  get readOnly(): boolean {
    return this.upkeep.readOnly;
  }

  /** True if no job is unfinished and no erase is in flight. */
  get isIdle(): boolean {
    return this.jobs.active === 0 && this.eraser.inFlightTotal === 0;
  }

  /** Goes on with another scheduler on the same array. @throws FtlError unless nothing is in flight. */
  attachScheduler(scheduler: NandScheduler): void {
    if (!this.isIdle)
      throw new FtlError('ERR_FTL_BUSY', 'attachScheduler: jobs or erases are in flight; finish them first');
    this.scheduler = scheduler;
    this.jobs.scheduler = scheduler;
    this.frontiers.attach(scheduler);
    this.collector.scheduler = scheduler;
    this.eraser.scheduler = scheduler;
    this.allocator.scheduler = scheduler;
  }

  write(lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.check(lpn, count);
    this.writes.write(lpn, count, origin, stream, job);
  }

  read(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    this.reads.read(lpn, count, job);
    if (this.mapCache !== null) this.writeBackMap();
  }

  /** @internal Physical slot of `lpn`, or `UNMAPPED`. */
  lookup(lpn: number): number {
    return this.frontiers.l2p[lpn];
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
   * Uses idle dies until `untilNs`: collects garbage up to `gcHigh` free blocks per domain, and refreshes what the array
   * asks for. Moves as many pages as fit into the time, at the device's own read, transfer and program times.
   */
  idle(untilNs: number): void {
    const { timing } = this.array.config;
    const pageNs = Math.max(...timing.readNs) + Math.max(...timing.programNs) + 2 * timing.commandNs;
    if (this.mapCache !== null) this.writeBackMap();
    const pages = Math.floor((untilNs - this.array.clock.now) / pageNs);
    this.upkeep.requireRefresh();
    if (pages <= 0) return;
    for (let domain = 0; domain < this.table.domains; domain++) {
      this.collector.background(domain, pages, this.options.gcHigh);
    }
    this.upkeep.serve();
  }

  /** Power is gone: all that is not in the array is forgotten. Call it after the scheduler's own power cut. */
  powerCut(): void {
    this.stats.dropped += this.stats.pending;
    this.frontiers.reset();
    this.frontiers.l2p.fill(UNMAPPED);
    this.collector.reset();
    this.eraser.reset();
    this.trimMap.reset();
    this.mapCache?.reset();
    this.streams.reset?.();
    this.victimPolicy.reset();
    this.upkeep.reset();
    this.jobs.clear();
    this.writes.clear();
  }

  /**
   * Rebuilds mapping and block states by a scan of all pages' OOB areas, after `powerCut`. Erases what a cut left as
   * garbage; these erases may still be in flight on return.
   * @throws FtlError `ERR_FTL_RECOVERY` if the array keeps nothing.
   */
  recover(): RecoveryReport {
    const report = recoverMapping(this);
    if (this.mapCache !== null) report.mapChanges = this.mapCache.recovered();
    this.upkeep.serve();
    return report;
  }

  /** For tests: checks all invariants by brute force. @throws FtlError `ERR_FTL_INVARIANT`. */
  inspect(): void {
    inspect(this);
    this.mapCache?.inspect();
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
      case Done.map:
        (this.mapCache as MapCache).lookedUp(id);
        return;
      default:
        this.eraseDone(id);
    }
  }

  private check(lpn: number, count: number): void {
    if (lpn >= 0 && count > 0 && lpn + count <= this.logicalSlots) return;
    throw new RangeError(`slots ${lpn} … ${lpn + count - 1} are not in 0 … ${this.logicalSlots - 1}`);
  }

  private eraseDone(block: number): void {
    this.eraser.erased(block);
    if (this.wear !== null) this.wear.erased(block, this.collector);
    this.upkeep.serve();
    if (this.mapCache !== null) this.writeBackMap();
    this.writes.resume();
  }

  /** @internal Writes translation pages that are due, as far as there is room. */
  writeBackMap(): void {
    this.mapCache?.writeBack();
    this.upkeep.serve();
  }
}
