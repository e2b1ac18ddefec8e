import { BlockOp, ZoneOp } from '@flashstack/block-device';
import type { Ssd } from '@flashstack/ssd';
import type { SegmentShape } from '@flashstack/workloads';

/** How an append-only drive is to be written; null for a drive that takes writes anywhere. */
export function segmentShapeOf(ssd: Ssd): SegmentShape | null {
  const { segments } = ssd.flash.ftl;
  if (segments === undefined) return null;
  const { slotBytes } = ssd.config.nand.geometry;
  return {
    firstByte: segments.first * slotBytes,
    segmentBytes: segments.stride * slotBytes,
    capacityBytes: segments.capacityOf(0) * slotBytes,
    lastCapacityBytes: segments.capacityOf(segments.count - 1) * slotBytes,
    count: segments.count,
    alignBytes: slotBytes,
    release: ssd.zones === null ? BlockOp.discard : ZoneOp.reset,
    mostOpen: segments.zones?.maxActive ?? 0,
  };
}
