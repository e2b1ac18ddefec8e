import { MoveReason } from '@flashstack/ftl';
import type { StatsRegistry } from '@flashstack/sim';
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
