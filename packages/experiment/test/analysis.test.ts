import { resolvePreset } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import { analyse } from '../src/analysis.js';

const config = resolvePreset('generic-tlc-nvme');
const calm = { gcStartNs: -1, gcStartFreeShare: 0, leastFreeShare: 0.4 };

/** Metrics of a drive of which little was asked, with some changed. */
function metrics(changes: Record<string, number> = {}): Record<string, number> {
  const base: Record<string, number> = {
    'host.failed': 0,
    'host.issued': 1000,
    'host.completed': 1000,
    'link.read.busyFraction': 0.1,
    'link.write.busyFraction': 0.1,
    'firmware.busyFraction': 0.1,
    'channel.busyFraction.mean': 0.1,
    'nand.busyFraction.mean': 0.1,
    'nand.programs': 1000,
    'nand.reads': 10,
    'nand.erases': 1,
    'ssd.write.requests': 1000,
    'ssd.write.slowest.phaseNs.gc': 0,
    'ssd.write.slowest.phaseNs.die': 1000,
    'ftl.hostSlots': 1000,
    'ftl.gc.copies': 0,
    'ftl.gc.erases': 0,
    'ftl.wearLevelling.copies': 0,
    'ftl.refresh.copies': 0,
    'ftl.retirement.copies': 0,
    'ftl.trimMap.slots': 0,
    'ftl.padding.slots': 0,
    'ftl.reprogrammed.slots': 0,
  };
  for (const kind of ['read', 'write', 'discard', 'flush']) {
    base[`host.${kind}.requests`] = kind === 'write' ? 1000 : 0;
    base[`host.${kind}.latencyNs.mean`] = 100_000;
  }
  return { ...base, ...changes };
}

const headline = (changes: Record<string, number>, partial = false): string =>
  analyse(metrics(changes), config, calm, partial).headline;

describe('the headline, first rule that applies', () => {
  test('failed requests come first', () => {
    expect(headline({ 'host.failed': 3, 'nand.busyFraction.mean': 0.99 }, true)).toBe('3 of 1000 requests failed.');
  });

  test('then an interrupted run, then one without requests', () => {
    expect(headline({ 'nand.busyFraction.mean': 0.99 }, true)).toContain('Interrupted');
    expect(headline({ 'host.completed': 0 })).toBe('Nothing was asked of the drive.');
  });

  test('a resource near its bound, by its name', () => {
    expect(headline({ 'nand.busyFraction.mean': 0.92 })).toBe(
      'Limited by flash programs, at 92 % of their bound for this write amplification.',
    );
    expect(headline({ 'nand.busyFraction.mean': 0.95, 'nand.reads': 1e6 })).toContain(
      'Limited by flash reads, at 95 %',
    );
    expect(headline({ 'nand.busyFraction.mean': 0.95, 'nand.erases': 1e6 })).toContain('Limited by flash erases');
    expect(headline({ 'link.write.busyFraction': 0.9 })).toBe('Limited by the host link, at 90 % of its bound.');
    expect(headline({ 'firmware.busyFraction': 0.86 })).toContain('Limited by the controller cores, at 86 %');
    expect(headline({ 'channel.busyFraction.mean': 0.87 })).toContain('Limited by the flash channels, at 87 %');
    expect(headline({ 'channel.busyFraction.mean': 0.849 })).not.toContain('Limited by the flash channels');
  });

  test('a half-duplex link is one resource', () => {
    const half = { ...config, link: { ...(config.link as NonNullable<typeof config.link>), duplex: 'half' as const } };
    const both = metrics({ 'link.read.busyFraction': 0.45, 'link.write.busyFraction': 0.45 });
    expect(analyse(both, half, calm, false).headline).toContain('Limited by the host link, at 90 %');
    expect(analyse(both, config, calm, false).headline).toContain('Limited by the host:');
  });

  test('garbage collection in the tail', () => {
    const tail = { 'ssd.write.slowest.phaseNs.gc': 710, 'ssd.write.slowest.phaseNs.die': 290 };
    expect(headline(tail)).toBe('Garbage collection sets the tail: 71 % of the time of the slowest 0.1 % of writes.');
  });

  test('flushes, the host, or nothing in particular', () => {
    expect(headline({ 'host.flush.requests': 3000 })).toContain('Flushes set the pace: 75 %');
    expect(headline({})).toContain('Limited by the host');
    expect(headline({ 'nand.busyFraction.mean': 0.6 })).toBe(
      'No resource was saturated: the busiest, flash programs, reached 60 % of their bound.',
    );
    expect(headline({ 'link.write.busyFraction': 0.7 })).toContain('the host link, reached 70 % of its bound.');
    const idle = { 'nand.busyFraction.mean': 1e-6, 'channel.busyFraction.mean': 0, 'firmware.busyFraction': 0 };
    expect(headline({ ...idle, 'link.read.busyFraction': 0, 'link.write.busyFraction': 0 })).toContain(
      'flash programs, reached less than 0.1 %.',
    );
  });
});

test('the causes of programs are those that happened, largest first', () => {
  const { programs } = analyse(metrics({ 'ftl.gc.copies': 2000, 'ftl.padding.slots': 5 }), config, calm, false);
  expect(programs).toEqual([
    { cause: 'gc', slots: 2000 },
    { cause: 'host', slots: 1000 },
    { cause: 'padding', slots: 5 },
  ]);
});
