import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runExperiment } from '../src/index.js';
import { loadSpec } from '../src/node/index.js';

test('a module names a file system, a read-ahead policy and a workload on files of its own', async () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-`);
  writeFileSync(
    `${folder}/own.ts`,
    `import { NoReadahead } from '@flashstack/pagecache-readahead';
import { fileSystemKinds } from '@flashstack/vfs';
import { fileJobsOf, fileWorkloadKinds } from '@flashstack/workloads';

const [memfs] = fileSystemKinds;
export const fileSystems = [{ ...memfs, name: 'small-names', create: () => memfs.create({ bytes: 2 ** 30, inodes: 16, links: 1, nameBytes: 8 }) }];
export const readaheads = [{ name: 'nothing', summary: 'Nothing.', parameters: [], create: () => new NoReadahead() }];
const [job] = fileWorkloadKinds;
const defaults = Object.fromEntries(job.parameters.map((parameter) => [parameter.name, parameter.default]));
export const fileWorkloads = [{
  name: 'two-readers',
  summary: 'Two jobs.',
  parameters: [{ name: 'pages', type: 'integer', default: 1, min: 1, help: 'Pages of each.' }],
  create: ({ pages }) => fileJobsOf(['a', 'b'].map((name) => ({ ...defaults, name, size: 4096 * pages }))),
}];
`,
  );
  writeFileSync(
    `${folder}/s.yaml`,
    'modules: [own.ts]\ndevice: mqsim-b8\nsystem: { fileSystem: small-names, readahead: nothing }\nworkload: { kind: two-readers, pages: 64 }\n',
  );
  const { spec, extensions } = await loadSpec(`${folder}/s.yaml`);
  const { metrics, spec: resolved } = await runExperiment(spec, { extensions });
  expect(metrics['jobs.a.read.requests']).toBe(64);
  expect(metrics['jobs.b.read.requests']).toBe(64);
  expect(metrics['cache.fetches']).toBe(128);
  expect(resolved.modules).toMatchObject([{ path: 'own.ts' }]);
  // Names of nine letters are too long for it.
  const long = { ...spec, workload: { kind: 'file-jobs', parameters: { name: 'long-name', size: 4096 } } };
  await expect(runExperiment(long, { extensions })).rejects.toThrow(/the workload cannot be run: ENAMETOOLONG/);
});
