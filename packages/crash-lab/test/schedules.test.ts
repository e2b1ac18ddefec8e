import { BlockOp, BlockRequest, FaultDevice, MemoryDevice } from '@flashstack/block-device';
import { checkMiniJournal } from '@flashstack/mini-journal';
import { Delay, ReplayScheduler, Simulator, type Task } from '@flashstack/sim';
import type { FileSystem, Inode } from '@flashstack/vfs';
import { describe, expect, it } from 'vitest';
import { BufferGuard, exploreSchedules, runSchedule, type ScheduleStrategy, simplifySchedule } from '../src/index.js';
import { full, long, waitingMemFs, waitingMiniJournal } from './subjects.js';

const schedules = long ? 20_000 : full ? 400 : 40;
const random: ScheduleStrategy = { kind: 'random' };

/** A file system that says that a name is gone a moment before it is. */
function hasty(fileSystem: FileSystem, simulator: Simulator): FileSystem {
  const broken = Object.create(fileSystem) as FileSystem;
  // biome-ignore lint/correctness/useYield: it does not wait, which is what is wrong with it.
  broken.unlink = function* (directory: Inode, name: string, inode: Inode): Task<void> {
    simulator.spawn(
      'late',
      (function* (): Task<void> {
        yield new Delay(simulator).for(0);
        yield* fileSystem.unlink(directory, name, inode);
      })(),
      { observed: true },
    );
  };
  return broken;
}

describe('schedules', () => {
  for (const strategy of [random, { kind: 'pct', depth: 2 }, { kind: 'pct', depth: 3 }] as const) {
    const name = strategy.kind === 'pct' ? `priorities of depth ${strategy.depth}` : strategy.kind;
    it(`of programs on the miniature journal are all explained: ${name}`, () => {
      const report = exploreSchedules({ subject: waitingMiniJournal(), strategy, schedules, check: checkMiniJournal });
      expect(report.failures).toEqual([]);
      expect(report.schedules).toBe(schedules);
      expect(report.decisions).toBeGreaterThan(20 * schedules);
    });

    it(`of programs on memfs are all explained: ${name}`, () => {
      const report = exploreSchedules({ subject: waitingMemFs(), strategy, schedules });
      expect(report.failures).toEqual([]);
      expect(report.decisions).toBeGreaterThan(20 * schedules);
    });
  }

  it('with at most one deviation are gone through completely', () => {
    const options = {
      subject: waitingMiniJournal(),
      programs: 2,
      operations: 3,
      schedules: 10_000,
      check: checkMiniJournal,
    };
    for (const seed of full ? [1, 2, 3, 4, 5, 6] : [1]) {
      const report = exploreSchedules({ ...options, seed, strategy: { kind: 'exhaustive', bound: 1 } });
      expect(report).toMatchObject({ complete: true, failures: [] });
      expect(report.schedules).toBeGreaterThan(10);
    }
  });

  it.each([random, { kind: 'pct', depth: 2 }] as const)(
    'find a file system that answers too early, and are the same again: $kind',
    (strategy) => {
      const subject = waitingMemFs(hasty);
      const options = { subject, strategy, schedules: 500, operations: 6 };
      const report = exploreSchedules(options);
      expect(report.failures.length).toBe(1);
      const [failed] = report.failures;
      expect(exploreSchedules(options)).toEqual(report);
      expect(runSchedule(options, failed.seed, new ReplayScheduler(failed.decisions))).toBe(failed.text);

      const simple = simplifySchedule(options, failed);
      const deviations = (decisions: readonly number[]): number => decisions.filter((choice) => choice > 0).length;
      expect(deviations(simple.decisions)).toBeLessThanOrEqual(deviations(failed.decisions));
      expect(runSchedule(options, simple.seed, new ReplayScheduler(simple.decisions))).toBe(simple.text);
    },
  );
});

describe('guarded buffers', () => {
  const cases = [
    [
      'a read whose buffer is changed in flight',
      BlockOp.read,
      'reads',
      true,
      ['read of 1 blocks from 3: its buffer was changed in flight'],
    ],
    ['a read', BlockOp.read, 'all', false, []],
    [
      'a write whose buffer is changed in flight',
      BlockOp.write,
      'all',
      true,
      ['write of 1 blocks from 3: its buffer was changed in flight'],
    ],
    ['a write whose buffer may be changed', BlockOp.write, 'reads', true, []],
    ['a write', BlockOp.write, 'all', false, []],
  ] as const;
  it.each(cases)('tell of %s', (_name, op, guarded, changes, expected) => {
    const simulator = new Simulator();
    const memory = new MemoryDevice({ blockCount: 8 });
    const guard = new BufferGuard(new FaultDevice(memory, { simulator, latencyNs: 1000, rules: [] }), guarded);
    let done = 0;
    const request = new BlockRequest({ ioDone: () => done++ });
    const buffer = new Uint8Array(4096).fill(5);
    Object.assign(request, { op, block: 3, count: 1, data: buffer });
    guard.submit(request);
    if (changes) buffer[77] = 6;
    simulator.drain();
    expect(done).toBe(1);
    expect(guard.changes).toEqual(expected);
    expect(request.data).toBe(buffer);
    if (op === BlockOp.read) expect(buffer.every((byte) => byte === 0)).toBe(true);
  });
});
