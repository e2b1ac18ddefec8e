import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { type Engine, separatingSetup, subject } from './subjects.js';
import { cutsPerScheduler, full, nested } from './support.js';

const engines: readonly Engine[] = ['instant', 'timeline', 'event-reserve', 'event-arbitrate'];

for (const policy of ['dac', 'sepbit', 'fdp'] as const) {
  for (const engine of engines) {
    describe(`streams of ${policy} on the ${engine} scheduler`, () => {
      ftlConformance({
        test: (name, run) => test(name, run),
        factory: (scenario, client) => subject(engine, scenario, client, separatingSetup(policy)),
        supports: { powerCut: true, steps: engine !== 'instant' },
        seeds: full ? 40 : 3,
        powerCuts: cutsPerScheduler,
        ...nested,
      });
    });
  }
}
