import { expect, test } from 'vitest';
import { runExperiment } from '../src/index.js';

test('a run gives one self-describing result', async () => {
  const result = await runExperiment({
    device: { preset: 'mqsim-b8', capacityBytes: 512 * 2 ** 20 },
    workload: { kind: 'random', parameters: { requests: 200_000, readShare: 0.3 } },
    precondition: 'fill',
  });
  console.log(result.analysis, result.metrics['ftl.waf'], result.specHash);
  expect(result.metrics['host.read.requests'] + result.metrics['host.write.requests']).toBe(200_000);
});
