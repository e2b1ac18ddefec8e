import { describe, test } from 'vitest';
import { ftlConformance } from '../src/conformance/index.js';
import { type Engine, subject } from './subjects.js';
import { full } from './support.js';

for (const engine of ['instant', 'timeline'] as const satisfies readonly Engine[]) {
  describe(`page mapping on the ${engine} scheduler`, () => {
    ftlConformance({
      test: (name, run) => test(name, run),
      factory: (scenario, client) => subject(engine, scenario, client),
      supports: { powerCut: true },
      seeds: full ? 1000 : 50,
    });
  });
}
