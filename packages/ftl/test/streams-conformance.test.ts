import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { type Engine, separatingSetup, subject } from './subjects.js';
import { depth, full } from './support.js';

const seeds: readonly (readonly [Engine, number, number])[] = [
  ['instant', 1, depth * (full ? 150 : 12)],
  ['timeline', 1, depth * (full ? 150 : 8)],
  ['event-arbitrate', 1, depth * (full ? 150 : 8)],
];

for (const [engine, firstSeed, count] of seeds) {
  describe(`data placed by lifetime on the ${engine} scheduler`, () => {
    ftlConformance({
      test: (name, run) => test(name, run),
      factory: (scenario, client) => subject(engine, scenario, client, separatingSetup),
      supports: { powerCut: true },
      firstSeed,
      seeds: count,
    });
  });
}
