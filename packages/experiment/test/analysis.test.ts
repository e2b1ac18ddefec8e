import { resolvePreset } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import { analyse } from '../src/analysis.js';

const config = resolvePreset('generic-tlc-nvme');
const calm = {
  gcStartNs: -1,
  gcStartFreeShare: 0,
  gcStartFreeBlocks: 0,
  leastFreeShare: 0.4,
  leastFreeBlocks: 40,
  threshold: 2,
  domainBlocks: 100,
  work: { reads: 0, programs: 0, erases: 0 },
};

/** Metrics of a drive of which little was asked, with some changed. */
function metrics(changes: Record<string, number> = {}): Record<string, number> {
  const base: Record<string, number> = {
    'host.failed': 0,
    'host.issued': 1000,
    'host.completed': 1000,
    'link.read.busyFraction': 0.1,
    'link.write.busyFraction': 0.1,
    'firmware.busyFraction': 0.1,
    'firmware.busyFraction.max': 0.1,
    'channel.busyFraction.mean': 0.1,
    'channel.busyFraction.max': 0.15,
    'nand.busyFraction.mean': 0.1,
    'nand.busyFraction.max': 0.15,
    'host.elapsedNs': 1e8,
    'nand.programs': 1000,
    'nand.reads': 10,
    'nand.erases': 1,
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
    base[`host.${kind}.iops`] = kind === 'write' ? 10_000 : 0;
    base[`host.${kind}.bytesPerSecond`] = kind === 'write' ? 40_960_000 : 0;
    base[`ssd.${kind}.requests`] = kind === 'write' ? 1000 : 0;
    base[`ssd.${kind}.latencyNs.mean`] = 100_000;
    base[`ssd.${kind}.phaseNs.buffer`] = 10_000;
    base[`ssd.${kind}.phaseNs.gc`] = 10_000;
  }
  return { ...base, ...changes };
}

const headline = (changes: Record<string, number>, partial = false): string =>
  analyse(metrics(changes), config, calm, partial).headline;

describe('the headline, first rule that applies', () => {
  test('failed requests come first', () => {
    expect(headline({ 'host.failed': 3, 'nand.busyFraction.mean': 0.99 }, true)).toBe('3 of 1000 requests failed.');
  });

  test('writes that an append-only mapping refused, with the workload that it takes, and what it erases', () => {
    const zoned = { ...config, ftl: { ...config.ftl, mapping: { name: 'zoned' } } };
    const failed = metrics({ 'host.failed': 3, 'host.write.failed': 3 });
    expect(analyse(failed, zoned, calm, false).headline).toBe(
      '3 of 1000 requests failed: zoned mapping takes writes only where a segment ends so far. The workload segments writes so.',
    );
    const reads = metrics({ 'host.failed': 3, 'host.write.failed': 0 });
    expect(analyse(reads, zoned, calm, false).headline).toBe('3 of 1000 requests failed.');
    expect(analyse(metrics({ 'nand.erases': 7 }), zoned, calm, false).gcSentence).toBe(
      'No garbage collection ran: blocks are erased when the host releases them; 7 erases.',
    );
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
    expect(headline({ 'firmware.hostCore.busyFraction': 0.93 })).toBe(
      'Limited by the host-interface core, at 93 % of its bound.',
    );
    expect(headline({ 'firmware.gcCore.busyFraction': 0.93 })).toBe(
      'Limited by the collection core, at 93 % of its bound.',
    );
    expect(headline({ 'firmware.busyFraction.max': 0.97 })).toBe(
      'Limited by one core, busy 97 %, while cores are busy 10 % on average: the load is uneven.',
    );
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

describe('rules in numbers', () => {
  const cause = (changes: Record<string, number>, observed = calm): string =>
    analyse(metrics(changes), config, observed, false).bottleneck;

  test('dies that mostly collect garbage are garbage collection', () => {
    const observed = { ...calm, gcStartNs: 5, work: { reads: 500, programs: 600, erases: 1 } };
    expect(cause({ 'nand.busyFraction.mean': 0.9 })).toBe('die');
    expect(cause({ 'nand.busyFraction.mean': 0.9 }, observed)).toBe('gc');
    expect(cause({ 'nand.busyFraction.mean': 0.8 }, observed)).not.toBe('gc');
  });

  test('one die or channel can limit by itself', () => {
    expect(cause({ 'nand.busyFraction.max': 0.96 })).toBe('die');
    expect(headline({ 'nand.busyFraction.max': 0.96 })).toContain(
      'Limited by one die, busy 96 %, while dies are busy 10 %',
    );
    expect(cause({ 'channel.busyFraction.max': 0.97 })).toBe('channel');
  });

  test('waits that are most of the time', () => {
    expect(cause({ 'ssd.write.phaseNs.buffer': 60_000 })).toBe('buffer');
    expect(cause({ 'ssd.write.phaseNs.gc': 60_000 })).toBe('gc');
    expect(cause({ 'host.flush.requests': 3000 })).toBe('flush');
    expect(cause({})).toBe('host');
    expect(cause({ 'nand.busyFraction.mean': 0.6 })).toBe('none');
  });

  test('the bound is what was measured over the share of the resource', () => {
    const { bounds, measured, boundSentence } = analyse(
      metrics({ 'nand.busyFraction.mean': 0.8 }),
      config,
      calm,
      false,
    );
    expect(measured).toEqual({ bytesPerSecond: 40_960_000, requestsPerSecond: 10_000 });
    expect(bounds[0]).toMatchObject({ boundBytesPerSecond: 51_200_000, boundRequestsPerSecond: 12_500 });
    expect(boundSentence).toBe(
      'Measured 41.0 MB/s (10000 requests/s); for this work flash programs would allow 51.2 MB/s (12500 requests/s).',
    );
  });

  test('why garbage collection ran, or did not', () => {
    expect(analyse(metrics(), config, calm, false).gcSentence).toBe(
      'No garbage collection ran: it begins at 2 free blocks of a domain, and the least was 40 free blocks of 100.',
    );
    const ran = { ...calm, gcStartNs: 21.4e9, gcStartFreeShare: 0.024, gcStartFreeBlocks: 1 };
    expect(analyse(metrics({ 'ftl.gc.erases': 7 }), config, ran, false).gcSentence).toBe(
      'GC ran from 21.4 s, when a domain was down to 1 free block of 100 and 2.4 % of all were free; 7 erases.',
    );
    const from = (gcStartNs: number): string => analyse(metrics(), config, { ...ran, gcStartNs }, false).gcSentence;
    expect([0, 1_020, 168_131, 43_000_000].map((ns) => /from (.*?),/.exec(from(ns))?.[1])).toEqual([
      '0.0 µs',
      '1.0 µs',
      '0.2 ms',
      '43.0 ms',
    ]);
  });
});

test('a program of a word line keeps its die busy for the time of the whole word line', () => {
  const { timing, geometry } = config.nand;
  expect(geometry.programUnit).toBe('wordline');
  const planes = geometry.planes;
  const meanReadNs = timing.readNs.reduce((sum, ns) => sum + ns, 0) / timing.readNs.length;
  // Programs take twice the time of reads, and half of them are of garbage collection.
  const reads = 1000;
  const programs = (2 * reads * meanReadNs) / (timing.programNs[0] / planes);
  const counted = metrics({
    'nand.busyFraction.mean': 0.9,
    'nand.reads': reads,
    'nand.programs': programs,
    'nand.erases': 0,
  });
  const observed = { ...calm, gcStartNs: 5, work: { reads: 0, programs: programs / 2, erases: 0 } };
  const { headline: text, gc } = analyse(counted, config, observed, false);
  expect(text).toContain('Limited by flash programs');
  expect(gc.dieShare).toBeCloseTo(1 / 3, 9);
});

test('the causes of programs are those that happened, largest first', () => {
  const { programs } = analyse(metrics({ 'ftl.gc.copies': 2000, 'ftl.padding.slots': 5 }), config, calm, false);
  expect(programs).toEqual([
    { cause: 'gc', slots: 2000 },
    { cause: 'host', slots: 1000 },
    { cause: 'padding', slots: 5 },
  ]);
});

test('what only some mapping schemes program is a cause where there is such a scheme', () => {
  const programs = { 'ftl.merges.copies': 300, 'ftl.mapping.slots': 20 };
  expect(analyse(metrics(programs), config, calm, false).programs).toEqual([
    { cause: 'host', slots: 1000 },
    { cause: 'merge', slots: 300 },
    { cause: 'mapping', slots: 20 },
  ]);
});
