import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { defaultVssimDelays } from '@flashstack/nand-device';
import { type InputError, RandomSource, Simulator } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import { type Interval, type RecorderOptions, TimelineRecorder, traceEvents } from '../src/index.js';

const SCHEDULERS = ['timeline', 'event', 'vssim'] as const;

/** Keeps 16 random requests of 4 KiB in flight until so many are done. */
class Traffic implements IoOwner {
  private readonly random = new RandomSource(3).stream('traffic');

  constructor(
    private readonly ssd: Ssd,
    private left: number,
  ) {}

  ioDone(request: BlockRequest): void {
    if (this.left-- <= 0) return;
    const slot = this.ssd.config.nand.geometry.slotBytes / this.ssd.blockBytes;
    request.op = this.random.below(4) === 0 ? BlockOp.read : BlockOp.write;
    request.block = this.random.below(Math.floor(this.ssd.blockCount / slot)) * slot;
    request.count = slot;
    this.ssd.submit(request);
  }

  run(): void {
    for (let i = 0; i < 16; i++) this.ioDone(new BlockRequest(this));
    this.ssd.simulator.drain();
  }
}

function steadyDrive(scheduler: (typeof SCHEDULERS)[number]): Ssd {
  const config = resolvePreset('mqsim-b8', { capacity: 128 * 2 ** 20, overProvisioning: 0.28 });
  // VSSIM knows no multi-plane commands.
  const features = { ...config.nand.features, multiPlane: false };
  const nand = scheduler === 'vssim' ? { ...config.nand, features } : config.nand;
  const kind = { ...config.scheduler, kind: scheduler, vssim: defaultVssimDelays };
  const ssd = new Ssd(new Simulator(), { ...config, nand, scheduler: kind });
  ssd.precondition('steady');
  return ssd;
}

function recorded(
  scheduler: (typeof SCHEDULERS)[number],
  options: RecorderOptions = {},
): { ssd: Ssd; recorder: TimelineRecorder } {
  const ssd = steadyDrive(scheduler);
  const recorder = new TimelineRecorder(ssd, options);
  new Traffic(ssd, 4000).run();
  return { ssd, recorder };
}

function all(recorder: TimelineRecorder): Interval[] {
  return Array.from({ length: recorder.length }, (_, at) => recorder.interval(at));
}

function sums(recorder: TimelineRecorder, track: Interval['track'], count: number): number[] {
  const busy = new Array<number>(count).fill(0);
  for (const interval of all(recorder)) {
    if (interval.track === track) busy[interval.index] += interval.endNs - interval.startNs;
  }
  return busy;
}

/** Intervals that begin before the one before them on their track has ended. */
function overlaps(recorder: TimelineRecorder, track: Interval['track']): number {
  const own = all(recorder).filter((interval) => interval.track === track);
  own.sort((a, b) => a.index - b.index || a.startNs - b.startNs);
  return own.filter(
    (interval, i) => i > 0 && interval.index === own[i - 1].index && interval.startNs < own[i - 1].endNs,
  ).length;
}

describe.each(SCHEDULERS)('on the %s scheduler', (scheduler) => {
  test("the intervals of each channel and die sum to the drive's counters, and none overlaps another", () => {
    const { ssd, recorder } = recorded(scheduler);
    const { dieBusyNs, channelBusyNs } = ssd.flash.scheduler;
    expect(sums(recorder, 'die', recorder.dies)).toEqual([...dieBusyNs]);
    expect(sums(recorder, 'channel', recorder.channels)).toEqual([...channelBusyNs]);
    expect(Math.min(...dieBusyNs)).toBeGreaterThan(0);
    expect(overlaps(recorder, 'die')).toBe(0);
    expect(overlaps(recorder, 'channel')).toBe(0);
  });

  test('a recording changes nothing', () => {
    const watched = recorded(scheduler).ssd;
    const alone = steadyDrive(scheduler);
    new Traffic(alone, 4000).run();
    expect(watched.simulator.now).toBe(alone.simulator.now);
    expect([...watched.flash.scheduler.dieBusyNs]).toEqual([...alone.flash.scheduler.dieBusyNs]);
  });

  test('a window keeps what lies in it, cut to its ends', () => {
    const whole = recorded(scheduler).recorder;
    const [fromNs, toNs] = [400_000, 2_000_000];
    const part = recorded(scheduler, { fromNs, toNs }).recorder;
    const expected = all(whole)
      .map((interval) => ({
        ...interval,
        startNs: Math.max(interval.startNs, fromNs),
        endNs: Math.min(interval.endNs, toNs),
      }))
      .filter((interval) => interval.endNs > interval.startNs);
    // VSSIM starts one command after the other, so that fewer fall into the window.
    expect(expected.length).toBeGreaterThan(scheduler === 'vssim' ? 10 : 100);
    expect(all(part)).toEqual(expected);
  });

  test('the trace is valid, with a named track for each channel and die', () => {
    const { recorder } = recorded(scheduler);
    const trace = JSON.parse([...traceEvents(recorder)].join(''));
    const names = trace.traceEvents.filter((event: { name: string }) => event.name === 'thread_name');
    expect(names).toHaveLength(recorder.channels + recorder.dies);
    expect(names[recorder.channels + 1].args.name).toBe('channel 0 die 1');
    const complete = trace.traceEvents.filter((event: { ph: string }) => event.ph === 'X');
    expect(complete).toHaveLength(recorder.length);
    const first = recorder.interval(0);
    expect(complete[0]).toMatchObject({
      ts: first.startNs / 1000,
      dur: (first.endNs - first.startNs) / 1000,
      name: first.name,
    });
  });
});

test('on the timeline scheduler intervals are known by their operation', () => {
  const { ssd, recorder } = recorded('timeline');
  const dies = all(recorder).filter((interval) => interval.track === 'die');
  const time = (pattern: RegExp): number =>
    dies
      .filter((interval) => pattern.test(interval.name))
      .reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0);
  const names = new Set(dies.map((interval) => interval.name));
  for (const name of ['read', 'program', 'GC read', 'GC program', 'GC erase']) expect(names).toContain(name);
  const { timing } = ssd.config.nand;
  const erases = dies.filter((interval) => interval.name === 'GC erase');
  for (const erase of erases) expect(erase.endNs - erase.startNs).toBeGreaterThanOrEqual(timing.eraseNs);
  const total = dies.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0);
  expect(time(/read$/) + time(/program$/) + time(/erase$/)).toBe(total);
});

test('the event scheduler tells only that something was busy', () => {
  const names = new Set(all(recorded('event').recorder).map((interval) => interval.name));
  expect([...names]).toEqual(['busy']);
});

test('memory is bounded: what comes after the limit is only counted', () => {
  const whole = recorded('timeline').recorder;
  const { recorder } = recorded('timeline', { limit: 5000 });
  expect(recorder.length).toBe(5000);
  expect(recorder.dropped).toBe(whole.length - 5000);
  expect(all(recorder)).toEqual(all(whole).slice(0, 5000));
  expect([...traceEvents(recorder)].join('')).toContain(`"dropped":"${recorder.dropped}"`);
});

test('after detaching nothing is recorded, and another recorder may listen', () => {
  const ssd = steadyDrive('timeline');
  const recorder = new TimelineRecorder(ssd);
  expect(() => new TimelineRecorder(ssd)).toThrow(expect.objectContaining({ code: 'ERR_REPORT_TRACED' }));
  recorder.detach();
  new Traffic(ssd, 100).run();
  expect(recorder.length).toBe(0);
  const second = new TimelineRecorder(ssd);
  new Traffic(ssd, 100).run();
  expect(second.length).toBeGreaterThan(0);
});

test.each([
  [{ fromNs: -1 }, 'fromNs'],
  [{ fromNs: 5, toNs: 5 }, 'fromNs'],
  [{ fromNs: Number.NaN }, 'fromNs'],
  [{ limit: 0 }, 'limit'],
  [{ limit: 1.5 }, 'limit'],
])('options %o are refused', (options, key) => {
  const attempt = (): unknown => new TimelineRecorder(steadyDrive('timeline'), options);
  expect(attempt).toThrow(expect.objectContaining({ code: 'ERR_REPORT_WINDOW', key } satisfies Partial<InputError>));
});
