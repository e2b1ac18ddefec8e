import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { type SegmentKind, segmentSetup } from './segment-subjects.js';
import { type Engine, subject } from './subjects.js';
import { depth, full } from './support.js';

const engines: readonly Engine[] = ['instant', 'timeline', 'event-reserve', 'event-arbitrate'];
const kinds: readonly SegmentKind[] = ['segment', 'disaggregate', 'zoned'];

for (const kind of kinds) {
  engines.forEach((engine, i) => {
    // More than six power cuts per seed: 2,200 per scheme in the full run, 100,000 in the deep one.
    const seeds = full ? (depth > 1 ? 3900 : 88) : 12;
    describe(`${kind} mapping on the ${engine} scheduler`, () => {
      ftlConformance({
        test: (name, run) => test(name, run),
        factory: (scenario, client) => subject(engine, scenario, client, segmentSetup(kind)),
        supports: { powerCut: true, appendOnly: true },
        firstSeed: 1 + i * seeds,
        seeds,
      });
    });
  });
}
