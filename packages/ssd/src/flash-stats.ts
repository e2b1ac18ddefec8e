import { HybridFtl, MoveReason, PageMapFtl } from '@flashstack/ftl';
import type { LayerStats, StatsRegistry } from '@flashstack/sim';
import type { FlashStack } from './flash-stack.js';

/** Registers `ftl.…`, `nand.…` and `channel.…`: counts and busy times since `sinceNs()`. */
export function registerFlashStats(
  registry: StatsRegistry,
  flash: FlashStack,
  now: () => number,
  sinceNs: () => number,
): void {
  const ftl = registry.layer('ftl');
  const stats = (): FlashStack['ftl']['stats'] => flash.ftl.stats;
  ftl.gauge('waf', () => stats().writeAmplification);
  ftl.gauge('hostSlots', () => stats().host);
  ftl.gauge('programmedSlots', () => stats().programmed);
  // What closes the books: slots of all causes = programmed + pending + dropped - carried.
  ftl.gauge('pendingSlots', () => stats().pending);
  ftl.gauge('droppedSlots', () => stats().dropped);
  ftl.gauge('carriedSlots', () => stats().carried);
  ftl.gauge('gc.runs', () => stats().runs[MoveReason.gc]);
  ftl.gauge('gc.overruled', () => stats().overruled);
  ftl.gauge('gc.copies', () => stats().moved[MoveReason.gc]);
  ftl.gauge('gc.erases', () => stats().erases);
  ftl.gauge('wearLevelling.copies', () => stats().moved[MoveReason.wearLevelling]);
  ftl.gauge('refresh.copies', () => stats().moved[MoveReason.refresh]);
  ftl.gauge('retirement.copies', () => stats().moved[MoveReason.retirement]);
  ftl.gauge('trimMap.slots', () => stats().trimMap);
  ftl.gauge('padding.slots', () => stats().padding);
  ftl.gauge('reprogrammed.slots', () => stats().reprogrammed);
  ftl.gauge('parked', () => stats().parked);
  ftl.gauge('retiredBlocks', () => stats().retired);
  ftl.gauge('map.bytes', () => flash.ftl.mapBytes);
  if (flash.scheme !== 'page') registerSchemeStats(ftl, flash);
  if (flash.ftl instanceof HybridFtl) registerMergeStats(ftl, flash);
  if (flash.ftl instanceof PageMapFtl && flash.ftl.streamsName.name === 'fdp') registerFdpStats(ftl, flash);
  const nand = registry.layer('nand');
  nand.gauge('reads', () => flash.scheduler.counts.total(flash.scheduler.counts.reads));
  nand.gauge('programs', () => flash.scheduler.counts.total(flash.scheduler.counts.programs));
  nand.gauge('erases', () => flash.scheduler.counts.total(flash.scheduler.counts.erases));
  const elapsed = (): number => now() - sinceNs();
  nand.gauge('busyFraction.mean', () => mean(flash.scheduler.dieBusyNs, elapsed()));
  nand.gauge('busyFraction.max', () => most(flash.scheduler.dieBusyNs, elapsed()));
  registry.gauge('channel.busyFraction.mean', () => mean(flash.scheduler.channelBusyNs, elapsed()));
  registry.gauge('channel.busyFraction.max', () => most(flash.scheduler.channelBusyNs, elapsed()));
}

/** Merges of log blocks: of block and hybrid mapping only. */
function registerMergeStats(ftl: LayerStats, flash: FlashStack): void {
  const stats = (): FlashStack['ftl']['stats'] => flash.ftl.stats;
  ftl.gauge('merges.switch', () => stats().switchMerges);
  ftl.gauge('merges.partial', () => stats().partialMerges);
  ftl.gauge('merges.full', () => stats().fullMerges);
  ftl.gauge('merges.copies', () => stats().moved[MoveReason.merge]);
}

/** What only other schemes than page mapping do: look-ups in a table of which a part is in RAM, and backups. */
function registerSchemeStats(ftl: LayerStats, flash: FlashStack): void {
  const stats = (): FlashStack['ftl']['stats'] => flash.ftl.stats;
  ftl.gauge('backups.slots', () => stats().backups);
  ftl.gauge('mapping.slots', () => stats().mapping);
  ftl.gauge('mapping.reads', () => stats().mapReads);
  ftl.gauge('mapping.hits', () => stats().mapHits);
  ftl.gauge('mapping.misses', () => stats().mapMisses);
  ftl.gauge('mapping.tableBytes', () => flash.ftl.tableBytes);
}

/** The log counters of flexible data placement: bytes that the host wrote, that flash was programmed with, and erased. */
function registerFdpStats(ftl: LayerStats, flash: FlashStack): void {
  const stats = (): FlashStack['ftl']['stats'] => flash.ftl.stats;
  const { geometry } = flash.array;
  const { slotBytes } = geometry.config;
  const blockBytes = geometry.pagesPerBlock * geometry.slotsPerPage * slotBytes;
  ftl.gauge('fdp.hostBytes', () => stats().host * slotBytes);
  ftl.gauge('fdp.mediaBytes', () => stats().programmed * slotBytes);
  ftl.gauge('fdp.mediaBytesErased', () => stats().erases * blockBytes);
  ftl.gauge('fdp.unknownPlacements', () => stats().unknownPlacements);
  ftl.gauge('fdp.outsideGroup', () => stats().outsideGroup);
}

// Work that was booked may end a little after the last request: a share never exceeds 1.
function mean(busyNs: Float64Array, elapsedNs: number): number {
  if (elapsedNs === 0) return 0;
  let sum = 0;
  for (const busy of busyNs) sum += Math.min(busy, elapsedNs);
  return sum / busyNs.length / elapsedNs;
}

function most(busyNs: Float64Array, elapsedNs: number): number {
  if (elapsedNs === 0) return 0;
  let highest = 0;
  for (const busy of busyNs) highest = Math.max(highest, busy);
  return Math.min(1, highest / elapsedNs);
}
