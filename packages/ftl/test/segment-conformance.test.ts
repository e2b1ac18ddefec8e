import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { type SegmentKind, segmentSetup } from './segment-subjects.js';
import { type Engine, subject } from './subjects.js';
import { cutsPerScheduler, full, nested } from './support.js';

const engines: readonly Engine[] = ['instant', 'timeline', 'event-reserve', 'event-arbitrate'];
const kinds: readonly SegmentKind[] = ['segment', 'disaggregate', 'zoned'];

for (const kind of kinds) {
  engines.forEach((engine, i) => {
    const seeds = full ? 60 : 12;
    describe(`${kind} mapping on the ${engine} scheduler`, () => {
      ftlConformance({
        test: (name, run) => test(name, run),
        factory: (scenario, client) => subject(engine, scenario, client, segmentSetup(kind)),
        supports: { powerCut: true, appendOnly: true, steps: engine !== 'instant' },
        firstSeed: 1 + i * 10_000,
        seeds,
        powerCuts: cutsPerScheduler,
        ...nested,
      });
    });
  });
}
