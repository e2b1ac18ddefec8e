import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { dftlSetup, type Engine, subject } from './subjects.js';
import { cutsPerScheduler, full, nested } from './support.js';

const seeds: readonly (readonly [Engine, number])[] = [
  ['instant', full ? 120 : 16],
  ['timeline', full ? 120 : 16],
  ['event-reserve', full ? 60 : 8],
  ['event-arbitrate', full ? 60 : 8],
];

for (const [engine, count] of seeds) {
  describe(`DFTL on the ${engine} scheduler`, () => {
    ftlConformance({
      test: (name, run) => test(name, run),
      factory: (scenario, client) => subject(engine, scenario, client, dftlSetup),
      supports: { powerCut: true, steps: engine !== 'instant' },
      seeds: count,
      powerCuts: cutsPerScheduler,
      ...nested,
    });
  });
}
