import { Bast, hybridScheme } from '@flashstack/ftl';
import { expect, test } from 'vitest';
import { extend, noExtensions, readDocument, resolveSpec, runExperiment, specSchema } from '../src/index.js';

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

test.each(['refreshAtRetries', 'readReclaimLimit'])('%s needs idle time', (limit) => {
  const ask = (idleNs: number) => () =>
    resolveSpec(specWith({ idleNs, [`nand.reliability.ecc.${limit}`]: 2 }), null).device.idleNs;
  expect(ask(0)).toThrow(
    `nand.reliability.ecc.${limit} has no effect: pages and blocks are written again in idle time`,
  );
  expect(ask(1_000_000)()).toBe(1_000_000);
});

test('parameters may have units, in a document and by path', () => {
  const mapping = { name: 'dftl', parameters: { cmtEntries: '1k', translationPageBytes: '64KiB' } };
  const { spec } = readDocument({ device: 'mqsim-b8', workload: 'random', ftl: { mapping } }, noExtensions);
  const expected = { name: 'dftl', parameters: { cmtEntries: 1000, translationPageBytes: 65_536 } };
  expect(resolveSpec(spec, null).device.ftl.mapping).toMatchObject(expected);
  const byPath = specWith({ 'ftl.mapping': 'dftl', 'ftl.mapping.parameters.translationPageBytes': '64KiB' });
  expect(resolveSpec(byPath, null).device.ftl.mapping).toMatchObject({ parameters: { translationPageBytes: 65_536 } });
  const schema = JSON.stringify(specSchema('ftl.mapping'));
  expect(schema).toContain('[kmgtpKMGTP](i[bB])?|[bB]');
});

test.each([
  ['64 parsecs', 'ftl.mapping.parameters.translationPageBytes is "64 parsecs", expected a size'],
  ['1KB per page', 'Write it as 4096, 64KiB or 4GiB'],
  ['2MiB', 'translationPageBytes is "2MiB", expected a size from 0 to 1MiB'],
])('a parameter of %s is refused', (translationPageBytes, message) => {
  const byPath = { 'ftl.mapping': 'dftl', 'ftl.mapping.parameters.translationPageBytes': translationPageBytes };
  expect(() => resolveSpec(specWith(byPath), null)).toThrow(message);
  const mapping = { name: 'dftl', parameters: { translationPageBytes } };
  const document = { device: 'mqsim-b8', workload: 'random', ftl: { mapping } };
  expect(() => readDocument(document, noExtensions)).toThrow(message);
});

test('a size in a parameter of a strategy is taken by its own table alone', () => {
  const path = 'ftl.victim.parameters.translationPageBytes';
  const asked = { 'ftl.victim': { name: 'd-choices', parameters: {} }, [path]: '64KiB' };
  expect(() => resolveSpec(specWith(asked), null)).toThrow('Unknown parameter of d-choices "translationPageBytes"');
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

const own = extend(
  noExtensions,
  { path: 'own.ts', sha256: '' },
  {
    mappings: [
      {
        name: 'own-bast',
        summary: 'BAST under another name.',
        parameters: [],
        create: () =>
          hybridScheme({
            name: 'own-bast',
            logBlocks: 0,
            leastLogBlocks: 1,
            idleMerge: false,
            sequentialBytes: 0,
            ownedByBlocks: true,
            make: (parts) => new Bast(parts, false),
          }),
      },
    ],
  },
);

test("a scheme of one's own goes without options that it does not use too, and what is asked for is refused", async () => {
  const spec = specWith({ 'ftl.mapping': 'own-bast' });
  expect(Object.keys(resolveSpec(spec, null, own).device.ftl).sort()).toEqual(['domain', 'mapping']);
  expect((await runExperiment(spec, { extensions: own })).metrics['host.write.requests']).toBe(50);
  const asked = specWith({ 'ftl.mapping': 'own-bast', 'ftl.streams': 'dac' });
  await expect(runExperiment(asked, { extensions: own })).rejects.toThrow(
    'ftl.streams: has no meaning with ftl.mapping own-bast, which uses domain',
  );
});
