import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { hybridSetup, schemes } from './hybrid-subjects.js';
import { type Engine, subject } from './subjects.js';
import { cutsPerScheduler, full, nested } from './support.js';

const seeds: readonly (readonly [Engine, number])[] = [
  ['instant', full ? 120 : 4],
  ['timeline', full ? 120 : 4],
  ['event-reserve', full ? 60 : 2],
  ['event-arbitrate', full ? 60 : 2],
];

for (const scheme of schemes) {
  for (const [engine, count] of seeds) {
    describe(`${scheme} on the ${engine} scheduler`, () => {
      ftlConformance({
        test: (name, run) => test(name, run),
        factory: (scenario, client) => subject(engine, scenario, client, hybridSetup(scheme)),
        supports: { powerCut: true, steps: engine !== 'instant' },
        seeds: count,
        powerCuts: cutsPerScheduler,
        ...nested,
      });
    });
  }
}

describe('sast, where a cut leaves a merge that takes one block more than there are roles for', () => {
  ftlConformance({
    test: (name, run) => test(name, run),
    factory: (scenario, client) => subject('timeline', scenario, client, hybridSetup('sast')),
    supports: { powerCut: true },
    seeds: 1,
    firstSeed: 36,
  });
});
