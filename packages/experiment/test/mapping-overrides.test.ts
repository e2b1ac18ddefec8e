import { expect, test } from 'vitest';
import { resolveSpec, runExperiment } from '../src/index.js';

const specWith = (overrides: Readonly<Record<string, unknown>>) =>
  ({
    // The preset asks for static wear levelling and names a victim policy, which log blocks have no use for.
    device: { preset: 'generic-tlc-nvme', capacityBytes: 2 ** 30, overProvisioning: 0.6, overrides },
    workload: { kind: 'sequential', parameters: { requests: 50 } },
  }) as const;

test('another mapping scheme goes without the options of the preset that it does not use', async () => {
  const spec = specWith({ 'ftl.mapping': 'fast' });
  expect(resolveSpec(specWith({}), null).device.ftl).toHaveProperty('wearLevelling');
  expect(Object.keys(resolveSpec(spec, null).device.ftl).sort()).toEqual(['domain', 'mapping']);
  expect((await runExperiment(spec)).metrics['host.write.requests']).toBe(50);
});

test.each([
  ['ftl.victim', 'fifo'],
  ['ftl.wearLevelling.delta', 20],
])('%s that is asked for beside such a scheme is refused', async (path, value) => {
  const section = path.split('.').slice(0, 2).join('.');
  await expect(runExperiment(specWith({ 'ftl.mapping': 'fast', [path]: value }))).rejects.toThrow(
    `${section}: has no meaning with ftl.mapping fast`,
  );
});
