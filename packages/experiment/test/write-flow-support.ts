import { expect } from 'vitest';
import type { ExperimentResult, WriteCause, WriteLayer, WritePart } from '../src/index.js';

/** Bytes of a layer, of all causes or of one, of all origins or of one. */
export function sum(parts: readonly WritePart[], layer: WriteLayer, cause?: WriteCause, origin?: string): number {
  const wanted = parts.filter(
    (part) =>
      part.layer === layer &&
      (cause === undefined || part.cause === cause) &&
      (origin === undefined || part.origin === origin),
  );
  return wanted.reduce((total, { bytes }) => total + bytes, 0);
}

/** The accounts of a run against its metrics, which other counters make. */
export function checkAccounts({ writeFlow: parts, metrics, spec }: ExperimentResult): void {
  const { pageBytes, slotBytes, programUnit, cellBits } = spec.device.nand.geometry;
  const programBytes = pageBytes * (programUnit === 'wordline' ? cellBits : 1);
  expect(sum(parts, 'device')).toBe(metrics['ssd.write.bytes']);
  expect(sum(parts, 'device') + sum(parts, 'buffer')).toBe(metrics['ftl.hostSlots'] * slotBytes);
  expect(sum(parts, 'flash', 'host')).toBe(metrics['ftl.hostSlots'] * slotBytes);
  expect(sum(parts, 'flash')).toBe(metrics['nand.programs'] * programBytes);
  for (const cause of ['gc', 'wearLevelling', 'refresh', 'retirement', 'merge'] as const) {
    const copies = metrics[`ftl.${cause === 'merge' ? 'merges' : cause}.copies`] ?? 0;
    expect(sum(parts, 'flash', cause), cause).toBe(copies * slotBytes);
  }
  for (const { bytes } of parts) expect(bytes === 0 || !Number.isInteger(bytes)).toBe(false);
  const keys = parts.map(({ layer, cause, origin }) => `${layer} ${cause} ${origin}`);
  expect(new Set(keys).size).toBe(keys.length);
}
