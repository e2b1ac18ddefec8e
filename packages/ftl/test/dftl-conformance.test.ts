import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { dftlSetup, type Engine, subject } from './subjects.js';
import { depth, full } from './support.js';

// Of the four groups of tests two have power cuts, three of them a seed on average: 2,000 in the full run, more than
// 100,000 in the deep one.
const times = depth === 1 ? 1 : 46;
const seeds: readonly (readonly [Engine, number, number])[] = [
  ['instant', 1, times * (full ? 120 : 16)],
  ['timeline', 1, times * (full ? 120 : 16)],
  ['event-reserve', 1, times * (full ? 60 : 8)],
  ['event-arbitrate', 1 + times * (full ? 60 : 8), times * (full ? 60 : 8)],
];

for (const [engine, firstSeed, count] of seeds) {
  describe(`DFTL on the ${engine} scheduler`, () => {
    ftlConformance({
      test: (name, run) => test(name, run),
      factory: (scenario, client) => subject(engine, scenario, client, dftlSetup),
      supports: { powerCut: true },
      firstSeed,
      seeds: count,
    });
  });
}
