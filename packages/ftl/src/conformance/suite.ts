import { AppendRun } from './append-run.js';
import { type FtlConformanceOptions, type FtlScenario, Run } from './run.js';

/**
 * Tests any FTL against a plain model of its contract: data integrity under random writes, trims, flushes and reads with
 * garbage collection, with failing blocks, and across power cuts; every job reported once; contents counted.
 */
export function ftlConformance(options: FtlConformanceOptions): void {
  const { test, supports } = options;
  const seeds = options.seeds ?? 50;
  const first = options.firstSeed ?? 1;
  const group = (name: string, faults: boolean, cuts: boolean): void => {
    const wanted = cuts ? Math.ceil((options.powerCuts ?? 0) / 2) : 0;
    test(`${name}, ${seeds} seeds${wanted > 0 ? ` and at least ${wanted} cuts` : ''}`, () => {
      let made = 0;
      for (let seed = first; seed < first + seeds || made < wanted; seed++) {
        const run = newRun(options, { seed, faults }, cuts);
        run.run();
        made += run.cutsMade;
      }
    });
  };
  test('an unwritten slot reads as nothing', () => newRun(options, { seed: 1, faults: false }, false).readUnwritten());
  test('requests outside the logical size are refused and change nothing', () => {
    newRun(options, { seed: 1, faults: false }, false).refuseOutside();
  });
  group('random operations keep every slot', false, false);
  group('random operations with failing blocks keep every slot', true, false);
  if (supports.powerCut) {
    group('power cuts keep what was flushed', false, true);
    group('power cuts with failing blocks keep what was flushed', true, true);
    if (supports.steps === true) nestedCuts(options);
  } else {
    test('a power cut is refused', () => {
      const run = newRun(options, { seed: 1, faults: false }, true);
      let refused = false;
      try {
        run.subject.powerCut();
      } catch {
        refused = true;
      }
      if (!refused) throw new Error('powerCut returned although it is not supported');
    });
  }
}

/** Recovery must be repeatable: what was read after it is read after the next one, wherever that cut the first. */
function nestedCuts(options: FtlConformanceOptions): void {
  const seeds = options.nestedSeeds ?? 1;
  const every = options.nestedEvery ?? 16;
  const first = options.firstSeed ?? 1;
  for (const faults of [false, true]) {
    const name = `power cuts inside of recoveries${faults ? ' with failing blocks' : ''} change nothing that was read`;
    options.test(`${name}, ${seeds} seeds, each ${every} steps`, () => {
      for (let seed = first; seed < first + seeds; seed++) {
        let steps = seed % every;
        while (newRun(options, { seed, faults }, true).runNested(steps)) steps += every;
      }
    });
  }
}

function newRun(options: FtlConformanceOptions, scenario: FtlScenario, cuts: boolean): Run {
  return options.supports.appendOnly === true
    ? new AppendRun(options, scenario, cuts)
    : new Run(options, scenario, cuts);
}
