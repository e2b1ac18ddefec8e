import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { hybridSetup, schemes } from './hybrid-subjects.js';
import { type Engine, subject } from './subjects.js';
import { depth, full } from './support.js';

// The two event schedulers share the seeds between them.
const seeds: readonly (readonly [Engine, number, number])[] = [
  ['instant', 1, depth * (full ? 200 : 8)],
  ['timeline', 1, depth * (full ? 200 : 8)],
  ['event-reserve', 1, depth * (full ? 100 : 4)],
  ['event-arbitrate', 1 + depth * (full ? 100 : 4), depth * (full ? 100 : 4)],
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
