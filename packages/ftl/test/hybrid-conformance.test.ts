import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { hybridSetup, schemes } from './hybrid-subjects.js';
import { type Engine, subject } from './subjects.js';
import { depth, full } from './support.js';

// A run of the two groups with power cuts has three of them or four: in a full run more than 2,000 for each scheme, in the
// deep profile more than 100,000. The two event schedulers share the seeds between them.
const times = depth === 1 ? 1 : 44;
const seeds: readonly (readonly [Engine, number, number])[] = [
  ['instant', 1, times * (full ? 120 : 4)],
  ['timeline', 1, times * (full ? 120 : 4)],
  ['event-reserve', 1, times * (full ? 60 : 2)],
  ['event-arbitrate', 1 + times * (full ? 60 : 2), times * (full ? 60 : 2)],
];

for (const scheme of schemes) {
  for (const [engine, firstSeed, count] of seeds) {
    describe(`${scheme} on the ${engine} scheduler`, () => {
      ftlConformance({
        test: (name, run) => test(name, run),
        factory: (scenario, client) => subject(engine, scenario, client, hybridSetup(scheme)),
        supports: { powerCut: true },
        firstSeed,
        seeds: count,
      });
    });
  }
}
