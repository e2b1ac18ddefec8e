import type { ExperimentResult } from '@flashstack/experiment';
import { beforeAll, describe, expect, test } from 'vitest';
import { closedFormAmplification } from '../src/closed-form.js';
import type { Figure } from '../src/figure.js';
import { channelsFigure, dieHeatFigure, victimsFigure, wearFigure } from '../src/figures/device.js';
import { percentileFigure, phasesFigure } from '../src/figures/latency.js';
import {
  amplificationOverTimeFigure,
  freeBlocksFigure,
  latencyOverTimeFigure,
  throughputFigure,
} from '../src/figures/over-time.js';
import { boundsFigure, waterfallFigure } from '../src/figures/writes.js';
import { headline } from '../src/headline.js';
import { RunView } from '../src/view.js';
import { copyOf, type Mutable, run, withVictim } from './runs.js';

let result: ExperimentResult;

beforeAll(async () => {
  result = await run();
});

/** The title of a figure after a change of the result. */
function title(figure: (view: RunView) => Figure, change: (copy: Mutable<ExperimentResult>) => void): string {
  const copy = copyOf(result);
  change(copy);
  return figure(new RunView(copy as ExperimentResult)).title;
}

/** Windows of 1 ms with so many bytes each. */
const windows = (bytes: readonly number[]) => ({
  intervalNs: 1_000_000,
  count: bytes.map(() => 1),
  sum: [...bytes],
  min: [...bytes],
  max: [...bytes],
});

describe('throughput', () => {
  const rates = (bytes: readonly number[], gcStart: number | null) => (copy: Mutable<ExperimentResult>) => {
    copy.series['host.write.bytes'] = windows(bytes);
    copy.metrics['host.elapsedNs'] = bytes.length * 1_000_000;
    copy.analysis.gc.startedNs = gcStart;
  };
  const of = (bytes: readonly number[], gcStart: number | null = null): string =>
    title(throughputFigure, rates(bytes, gcStart));

  test('falls once garbage collection has begun', () => {
    expect(of([100, 100, 100, 100, 40, 40, 40, 40], 4_000_000)).toBe(
      'Write throughput falls by 60\u00a0% once garbage collection has begun',
    );
  });

  test('does not care about garbage collection', () => {
    expect(of([100, 100, 100, 100, 99, 99, 99, 99], 4_000_000)).toContain(
      'does not change when garbage collection begins',
    );
  });

  test('holds, rises, falls', () => {
    expect(of([1e5, 1e5, 1e5, 1e5])).toBe('Write throughput holds at 100 MB/s');
    expect(of([100, 100, 150, 150])).toContain('rises by 50\u00a0%');
    expect(of([100, 100, 75, 75])).toContain('falls by 25\u00a0%');
  });
});

describe('latency over time', () => {
  const percentilesOf = (p50: readonly number[], p99: readonly number[]): string =>
    title(latencyOverTimeFigure, (copy) => {
      copy.series['host.write.latencyNs.p50'] = windows(p50);
      copy.series['host.write.latencyNs.p99'] = windows(p99);
    });

  test('the tail grows, shrinks, holds', () => {
    const flat = [10, 10, 10, 10];
    expect(percentilesOf(flat, [100, 200, 400, 900])).toContain('The write tail grows: p99 ends at 9.00 times');
    expect(percentilesOf(flat, [900, 400, 200, 90])).toContain('shrinks: p99 ends at 10\u00a0%');
    expect(percentilesOf(flat, [100, 100, 100, 100])).toContain('hold over the run');
    expect(percentilesOf([10, 20, 30, 40], [100, 100, 100, 100])).toContain('the median changes 4.00 times');
    expect(percentilesOf([10], [100])).toContain('How bad is the write tail');
  });

  test('a result without percentiles shows mean and maximum', () => {
    const copy = copyOf(result);
    for (const key of ['p50', 'p99', 'p999']) delete copy.series[`host.write.latencyNs.${key}`];
    const figure = latencyOverTimeFigure(new RunView(copy as ExperimentResult));
    expect(figure.caption).toContain('mean and largest');
  });
});

test('what the slowest requests wait for is named', () => {
  const phases = (worst: string): string =>
    title(phasesFigure, (copy) => {
      for (const name of Object.keys(copy.metrics)) {
        if (name.startsWith('ssd.write.slowest.phaseNs.')) copy.metrics[name] = name.endsWith(`.${worst}`) ? 900 : 10;
      }
    });
  expect(phases('gc')).toMatch(/slowest 0\.1\u00a0% of writes wait 9\d\u00a0% of their time for garbage collection/);
  expect(phases('link')).toContain('at the host link');
  expect(phases('queue')).toContain('to be begun');
  expect(phases('buffer')).toContain('for the write buffer');
});

test('the nearest bound is named, and whether it was met', () => {
  const nearest = (share: number): string =>
    title(boundsFigure, (copy) => {
      copy.analysis.bounds = [{ resource: 'flash programs', share }] as never;
    });
  expect(nearest(0.92)).toBe('Flash programs set the pace: 92\u00a0% of the bound was reached');
  expect(nearest(0.6)).toBe('No limit was met: flash programs came nearest, at 60\u00a0%');
});

test('the cost of a byte is the sum of its causes', () => {
  const cost = title(waterfallFigure, (copy) => {
    copy.analysis.programs = [
      { cause: 'host', slots: 100 },
      { cause: 'gc', slots: 150 },
      { cause: 'padding', slots: 17 },
    ];
  });
  expect(cost).toBe('One byte written to flash costs 2.67 bytes of programs');
});

test('dies and channels: even, uneven, at the limit', () => {
  const dies = (permille: readonly number[]): string =>
    title(dieHeatFigure, (copy) => {
      const rows = permille.map((_, die) => `c0 d${die}`);
      copy.heatmaps['nand.busy'] = { widthNs: 1e9, columns: 1, rows, permille: [...permille] };
    });
  expect(dies([930, 930, 931])).toBe('Dies are 93\u00a0% busy and evenly loaded');
  expect(dies([900, 300, 300])).toBe(
    'Dies are 50\u00a0% busy, but unevenly: die 0 of channel 0 is 90\u00a0%, the least busy 30\u00a0%',
  );
  const channels = (permille: readonly number[]): string =>
    title(channelsFigure, (copy) => {
      const rows = permille.map((_, channel) => `c${channel}`);
      copy.heatmaps['channel.busy'] = { widthNs: 1e9, columns: 1, rows, permille: [...permille] };
    });
  expect(channels([900, 400])).toBe('A channel is the limit: 90\u00a0% busy');
  expect(channels([600, 400])).toBe('No channel is the limit: at most 60\u00a0% busy');
});

test('victims and wear', () => {
  const victims = title(victimsFigure, (copy) => {
    copy.distributions['ftl.victimValid'] = { unit: 'valid slots', from: 0, binWidth: 1, counts: [0, 0, 0, 7, 0] };
  });
  expect(victims).toBe('GC victims are still 75\u00a0% valid');
  const wear = (counts: readonly number[]): string =>
    title(wearFigure, (copy) => {
      copy.distributions['nand.eraseCount'] = { unit: 'erases', from: 100, binWidth: 1, counts: [...counts] };
    });
  expect(wear([5, 9, 5])).toBe('Wear is even: 100 to 102 erases a block');
  expect(wear([5, ...new Array<number>(80).fill(0), 5])).toBe('Wear is uneven: 100 to 181 erases a block');
});

test('why garbage collection ran or did not', () => {
  const ran = (startedNs: number | null): string =>
    title(freeBlocksFigure, (copy) => {
      copy.analysis.gc.startedNs = startedNs;
    });
  expect(ran(5)).toContain('Why GC ran');
  expect(ran(null)).toContain('Why GC did not run');
});

describe('theory', () => {
  test.each(['greedy', 'fifo'])(
    'uniformly random writes with %s victims amplify as the closed form says',
    async (victim) => {
      const view = new RunView(await withVictim(victim));
      const closed = closedFormAmplification(view) ?? 0;
      expect(Math.abs(view.writeAmplification / closed - 1)).toBeLessThan(0.1);
      expect(amplificationOverTimeFigure(view).title).toMatch(/as theory says/);
    },
  );

  test('without a closed form none is claimed', async () => {
    const cases = [
      await withVictim('random'),
      await run({ workload: { kind: 'zipf', parameters: { requests: 2000 } } }),
      await run({ workload: { kind: 'random', parameters: { requests: 2000, rangeBytes: 2 ** 20 } } }),
      await run({ workload: { kind: 'random', parameters: { requests: 2000, requestBytes: 1024 } } }),
    ];
    for (const result of cases) expect(closedFormAmplification(new RunView(result))).toBeNull();
  });
});

test('distribution of latencies', () => {
  expect(percentileFigure(new RunView(result)).title).toMatch(/^The p99 of writes is [\d.]+ times their median$/);
});

describe('the headline', () => {
  const said = (change: (copy: Mutable<ExperimentResult>) => void): string => {
    const copy = copyOf(result);
    change(copy);
    return headline(new RunView(copy as ExperimentResult)).text;
  };

  test('begins with the cause that the analysis names, its share in bold, long numbers grouped', () => {
    const text = said((copy) => {
      copy.analysis.headline = 'Limited by flash programs, at 92 % of their bound for this write amplification.';
    });
    expect(text).toMatch(/^Limited by flash programs, at <b>92\u00a0%<\/b> of their bound/);
    const failed = said((copy) => {
      copy.analysis.headline = '12345 of 99999 requests failed.';
    });
    expect(failed).toMatch(/^12\u202f345 of 99\u202f999/);
  });

  test('tells what garbage collection did to throughput', () => {
    const text = said((copy) => {
      copy.series['host.write.bytes'] = windows([4e5, 4e5, 1e5, 1e5]);
      copy.metrics['host.elapsedNs'] = 4_000_000;
      copy.analysis.gc.startedNs = 2_000_000;
    });
    expect(text).toContain('Write throughput goes from 400 to 100\u00a0MB/s once garbage collection has begun.');
  });

  test('tells the price in flash, and whose it was', () => {
    const text = said((copy) => {
      copy.analysis.programs = [
        { cause: 'host', slots: 100 },
        { cause: 'gc', slots: 100 },
      ];
    });
    expect(text).toContain(
      'Every byte written to flash cost 2.00 bytes of programs; 50\u00a0% of all programs were copies',
    );
  });
});
