import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, expect, test } from 'vitest';
import { filesBelow, type Import, importsOf, type Member, members, root } from './workspace.js';

// Who may import whom. Every package may also import `sim` and `codec`, which import nothing, not even each other.
const allowed: Record<string, readonly string[]> = {
  sim: [],
  codec: [],
  'block-device': ['sim', 'codec'],
  vfs: ['sim', 'codec', 'block-device'],
  'pagecache-readahead': ['sim', 'codec', 'block-device', 'vfs'],
  host: ['sim', 'codec', 'block-device', 'vfs', 'pagecache-readahead'],
  'mini-journal': ['sim', 'codec', 'block-device', 'vfs'],
  'ext4-jbd2': ['sim', 'codec', 'block-device', 'vfs', 'lfs-core'],
  'crash-lab': ['sim', 'codec', 'block-device', 'vfs', 'host', 'ssd'],
  'nand-device': ['sim', 'codec', 'mtd'],
  ftl: ['sim', 'codec', 'nand-device'],
  ssd: ['sim', 'codec', 'block-device', 'nand-device', 'ftl'],
  workloads: ['sim', 'codec', 'block-device', 'vfs'],
  experiment: [
    ...['sim', 'codec', 'block-device', 'vfs', 'nand-device', 'ftl', 'ssd'],
    ...['pagecache-readahead', 'workloads', 'host'],
  ],
  report: ['sim', 'nand-device', 'ftl', 'ssd', 'experiment'],
  fixtures: [],
  'linux-guest': [],
};
const scope = '@flashstack/';
// Third-party packages that may be imported at run time, and why: zstd is not in Node 20 nor in browsers; reports draw
// with a charting library, which needs a document.
const thirdParty: Record<string, readonly string[]> = {
  workloads: ['@hpcc-js/wasm-zstd'],
  report: ['@observablehq/plot', 'linkedom'],
};
// The same for node entries: specs are YAML or TypeScript, tables may be Parquet, figures pictures.
const thirdPartyOfNode: Record<string, readonly string[]> = {
  experiment: ['hyparquet-writer', 'jiti', 'yaml'],
  report: ['@resvg/resvg-js'],
};
const allowedThirdParty = (name: string, specifier: string, node: boolean): boolean =>
  [...(thirdParty[name] ?? []), ...(node ? (thirdPartyOfNode[name] ?? []) : [])].includes(packageOf(specifier));
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
// Entries besides the main one that a package may have. Only `./node` may use Node built-ins.
const entries = ['.', './node', './conformance', './crash', './package.json'];

const all = members();
const packages = all.filter((member) => member.folder.startsWith('packages/'));
const sourceOf = (member: Member): Import[] => filesBelow(`${member.folder}/src`, '.ts').flatMap(importsOf);
const short = (member: Member): string => member.folder.slice('packages/'.length);
const where = (found: Import): string => `${found.file}:${found.line} imports ${found.specifier}`;

test('the scanner sees every form of import', () => {
  const found = importsOf('test/architecture.test.ts').map((entry) => entry.specifier);
  expect(found).toContain('node:module');
  expect(found).toContain('./workspace.js');
});

describe.each(packages.map((member) => [member.manifest.name, member] as const))('%s', (_, member) => {
  const name = short(member);
  const found = sourceOf(member);

  test('is known to the table of dependencies', () => {
    expect(Object.keys(allowed)).toContain(name);
    expect(member.manifest.name).toBe(`${scope}${name}`);
  });

  test('imports only what lies below it', () => {
    const wrong = found.filter(({ specifier }) => {
      if (!specifier.startsWith(scope)) return false;
      return !allowed[name]?.includes(specifier.slice(scope.length).split('/')[0] ?? '');
    });
    expect(wrong.map(where)).toEqual([]);
  });

  test('imports siblings through their public entries', () => {
    const wrong = found.filter(({ specifier }) => {
      if (!specifier.startsWith(scope)) return false;
      const [sibling, ...rest] = specifier.slice(scope.length).split('/');
      const entry = rest.length === 0 ? '.' : `./${rest.join('/')}`;
      const target = packages.find((candidate) => short(candidate) === sibling);
      return target?.manifest.exports?.[entry] === undefined;
    });
    expect(wrong.map(where)).toEqual([]);
  });

  // What only tests use runs in Node alone.
  test.skipIf(member.manifest.private)(
    'uses Node only in its node entry, and no third-party package at run time but those allowed',
    () => {
      const wrong = found.filter(({ file, specifier }) => {
        if (specifier.startsWith('.') || specifier.startsWith(scope)) return false;
        const node = file.startsWith(`${member.folder}/src/node/`);
        return !(allowedThirdParty(name, specifier, node) || (node && isBuiltin(specifier)));
      });
      expect(wrong.map(where)).toEqual([]);
    },
  );

  test('keeps its node entry out of the others', () => {
    const wrong = found.filter(
      ({ file, specifier }) => !file.startsWith(`${member.folder}/src/node/`) && /(^|\/)node\/|\/node$/.test(specifier),
    );
    expect(wrong.map(where)).toEqual([]);
  });

  test('declares what it imports and imports what it declares', () => {
    const used = new Set(
      found
        .map(({ specifier }) => specifier)
        .filter((specifier) => specifier.startsWith(scope) || allowedThirdParty(name, specifier, true))
        .map(packageOf),
    );
    expect([...used].sort()).toEqual(Object.keys(member.manifest.dependencies ?? {}).sort());
  });

  test('has no entry beyond those of the architecture', () => {
    if (member.manifest.private) return;
    expect(Object.keys(member.manifest.exports ?? {}).filter((entry) => !entries.includes(entry))).toEqual([]);
  });

  test('has no file much over 400 lines', () => {
    const long = filesBelow(`${member.folder}/src`, '.ts').filter(
      (file) => readFileSync(`${root}${file}`, 'utf8').split('\n').length > 420,
    );
    expect(long).toEqual([]);
  });
});

test('nothing imports an app, but for the command, which runs the reproductions', () => {
  const apps = all.filter((member) => member.folder.startsWith('apps/')).map((member) => member.manifest.name);
  const wrong = all.flatMap((member) =>
    sourceOf(member).filter(
      ({ specifier }) =>
        apps.includes(specifier) &&
        !(member.folder === 'apps/flashstack' && specifier === '@flashstack/paper-reproductions'),
    ),
  );
  expect(wrong.map(where)).toEqual([]);
});

test('published packages look alike', () => {
  for (const { folder, manifest } of packages.filter((member) => !member.manifest.private)) {
    expect(manifest, folder).toMatchObject({ license: 'MIT', type: 'module', sideEffects: false, files: ['dist'] });
    expect(manifest.engines, folder).toEqual({ node: '>=20.19' });
    expect(manifest.publishConfig?.access, folder).toBe('public');
    expect(manifest.description?.length, folder).toBeGreaterThan(20);
    // What is published is what is developed, less the condition that points at the sources.
    const published = Object.fromEntries(
      Object.entries(manifest.exports ?? {}).map(([entry, target]) => {
        if (typeof target === 'string') return [entry, target];
        const { '@flashstack/source': source, ...rest } = target;
        expect(source, `${folder} ${entry}`).toMatch(/^\.\/src\/.*index\.ts$/);
        return [entry, rest];
      }),
    );
    expect(manifest.publishConfig?.exports, folder).toEqual(published);
  }
});
