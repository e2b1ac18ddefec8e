import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Member, members, root } from './workspace.js';

// A release without publishing: versions and changelogs in a copy of the workspace, packages as tarballs, and the
// tarballs installed by npm into an empty project, where nothing of the workspace can be found.
const full = process.env.CI !== undefined;
if (!full)
  process.stderr.write('\n◐ SKIPPED: the release rehearsal, which takes a minute or two; set CI to run it\n\n');

const published = members().filter(({ manifest }) => manifest.private !== true);
const libraries = published.filter(({ folder }) => folder.startsWith('packages/'));
const FIRST = '0.1.0';

interface Tarball {
  readonly name: string;
  readonly path: string;
  /** Paths in the package. */
  readonly files: readonly string[];
  readonly manifest: Member['manifest'] & { readonly bin?: unknown };
}

/** Output of a command. What a failed one said on either stream is in the error. */
function run(command: string, args: readonly string[], cwd: string): string {
  const env = { ...process.env, npm_config_update_notifier: 'false', NO_COLOR: '1' };
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 300_000 });
  if (status === 0) return stdout;
  throw new Error(
    `${command} ${args.join(' ')} failed in ${cwd}: ${error?.message ?? `exit ${status}`}\n${stdout}\n${stderr}`,
  );
}
const tool = (name: string): string => `${root}node_modules/.bin/${name}`;

/** What is left out of the copy: what is made anew, what is large, and what belongs to the checkout. */
const leftOut =
  /^(?:\.git|node_modules|out|coverage|docs\/\.vitepress|docs\/reference\/api|test\/snippets)$|(?:^|\/)(?:\.turbo|\.cache|\.vite)$/;

function copyWorkspace(copy: string): void {
  cpSync(root, copy, {
    recursive: true,
    // Packages are linked to each other by relative paths, which then lead to the copies.
    verbatimSymlinks: true,
    filter: (path) => !leftOut.test(path.slice(root.length)),
  });
  // The changelog writer, and nothing else: what is installed must be out of reach of whatever runs in the copy.
  mkdirSync(`${copy}/node_modules`);
  symlinkSync(`${root}node_modules/@changesets`, `${copy}/node_modules/@changesets`);
  // Changelogs name the commit that brought a changeset.
  run('git', ['init', '--quiet'], copy);
  run('git', ['add', '--all'], copy);
  run('git', ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@localhost', 'commit', '-qm', 'copy'], copy);
}

function pack(copy: string, { folder, manifest }: Member, target: string): Tarball {
  run(tool('pnpm'), ['pack', '--pack-destination', target], `${copy}/${folder}`);
  const file = `${manifest.name.replace(/^@/, '').replace('/', '-')}-${FIRST}.tgz`;
  const path = `${target}/${file}`;
  const files = run('tar', ['-tzf', path], target)
    .split('\n')
    .filter((line) => line !== '');
  return {
    name: manifest.name,
    path,
    files: files.map((name) => name.replace(/^package\//, '')),
    manifest: JSON.parse(run('tar', ['-xzOf', path, 'package/package.json'], target)),
  };
}

describe.skipIf(!full)('the first release', () => {
  let base = '';
  let project = '';
  const tarballs: Tarball[] = [];

  beforeAll(() => {
    base = mkdtempSync(`${tmpdir()}/flashstack-release-`);
    // Built already when all checks run; here for those who run this file alone.
    run(tool('turbo'), ['run', 'build', '--output-logs=errors-only', '--no-update-notifier'], root);
    copyWorkspace(`${base}/copy`);
    run(tool('changeset'), ['version'], `${base}/copy`);
    mkdirSync(`${base}/tarballs`);
    for (const member of published) tarballs.push(pack(`${base}/copy`, member, `${base}/tarballs`));
    project = `${base}/project`;
    mkdirSync(project);
    const dependencies = Object.fromEntries(tarballs.map(({ name, path }) => [name, `file:${path}`]));
    writeFileSync(`${project}/package.json`, JSON.stringify({ private: true, type: 'module', dependencies }));
    run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], project);
  });

  afterAll(() => {
    if (base !== '') rmSync(base, { recursive: true, force: true });
  });

  test('gives every package its first version and a changelog that says what it is', () => {
    expect(published.length).toBeGreaterThan(8);
    for (const { folder, manifest } of published) {
      const { version } = JSON.parse(readFileSync(`${base}/copy/${folder}/package.json`, 'utf8'));
      expect(version, manifest.name).toBe(FIRST);
      const changelog = readFileSync(`${base}/copy/${folder}/CHANGELOG.md`, 'utf8');
      expect(changelog, manifest.name).toMatch(/^# \S+\n\n## 0\.1\.0\n\n### Minor Changes\n\n- [0-9a-f]{7}: .{40}/);
    }
    expect(readdirSync(`${base}/copy/.changeset`)).toEqual(['config.json']);
  });

  test('publishes built code with its types, README and licence, and neither sources nor tests', () => {
    for (const { name, files } of tarballs) {
      expect(files, name).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
      const other = files.filter((file) => !/^(?:dist\/.+|package\.json|README\.md|LICENSE)$/.test(file));
      expect(other, name).toEqual([]);
      expect(
        files.filter((file) => /\.test\.|\.bench\.|(?<!\.d)\.ts$|\.tsbuildinfo$/.test(file)),
        name,
      ).toEqual([]);
    }
  });

  test('publishes manifests that mean the same outside the workspace', () => {
    for (const { name, files, manifest } of tarballs) {
      const text = JSON.stringify(manifest);
      expect(text, name).not.toMatch(/workspace:|catalog:|@flashstack\/source/);
      expect(manifest.version, name).toBe(FIRST);
      for (const [dependency, range] of Object.entries(manifest.dependencies ?? {})) {
        if (dependency.startsWith('@flashstack/')) expect(range, `${name} → ${dependency}`).toBe(`^${FIRST}`);
      }
      const targets = Object.values(manifest.exports ?? manifest.bin ?? {}).flatMap((target) =>
        typeof target === 'string' ? [target] : Object.values(target as Record<string, string>),
      );
      expect(targets.length, name).toBeGreaterThan(0);
      for (const target of targets) expect(files, name).toContain(target.replace(/^\.\//, ''));
    }
  });

  const entries = libraries.flatMap(({ manifest }) =>
    Object.keys(manifest.exports ?? {})
      .filter((entry) => entry !== './package.json')
      .map((entry) => manifest.name + entry.slice(1)),
  );

  test.each(entries)('%s can be imported by plain Node', (entry) => {
    const script = `import * as all from '${entry}'; console.log(Object.keys(all).length)`;
    const count = Number(run(process.execPath, ['--input-type=module', '--eval', script], project));
    expect(count).toBeGreaterThan(0);
  });

  /** The first program of a README, as TypeScript. */
  const example = (folder: string): string =>
    /^```ts *\n(.*?)^```$/ms.exec(readFileSync(`${root}${folder}/README.md`, 'utf8'))?.[1] ?? '';

  test.each(libraries.map(({ folder }) => folder))('the example of %s runs', (folder) => {
    const source = example(folder);
    expect(source).toContain('throw new Error');
    const file = `${folder.replace('/', '-')}.mjs`;
    writeFileSync(`${project}/${file}`, transformSync(source, { loader: 'ts', format: 'esm' }).code);
    run(process.execPath, [file], project);
  });

  test('the examples are right by the published types', () => {
    const folder = `${project}/typed`;
    mkdirSync(folder);
    for (const { folder: from } of libraries) {
      writeFileSync(`${folder}/${from.replace('/', '-')}.ts`, `${example(from)}\nexport {};\n`);
    }
    const compilerOptions = {
      module: 'NodeNext',
      target: 'ES2022',
      // DOM for `console`.
      lib: ['ES2023', 'DOM'],
      strict: true,
      noEmit: true,
      types: [],
      // The declarations of the charting library need those of d3, which it does not bring along.
      skipLibCheck: true,
    };
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    run(tool('tsc'), ['-p', folder], project);
  });

  test('the command replays a trace', () => {
    const flashstack = `${project}/node_modules/.bin/flashstack`;
    expect(run(flashstack, ['--version'], project).trim()).toBe(FIRST);
    const rows = Array.from(
      { length: 500 },
      (_, i) =>
        `128166372003${String(i).padStart(6, '0')},host,0,${i % 3 === 0 ? 'Read' : 'Write'},${(i % 97) * 65536},8192,100`,
    );
    writeFileSync(`${project}/small.csv`, `${rows.join('\n')}\n`);
    const args = ['replay', 'small.csv', '--device', 'mqsim-b8', '--capacity', '512MiB', '--json'];
    const { metrics } = JSON.parse(run(flashstack, args, project));
    expect(metrics['host.read.requests'] + metrics['host.write.requests']).toBe(500);
    expect(metrics['host.write.bytes']).toBe(333 * 8192);
  });
});
