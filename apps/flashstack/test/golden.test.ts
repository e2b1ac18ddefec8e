import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { readSpec, readYaml } from '@flashstack/experiment/node';
import { fixtureUrl } from '@flashstack/fixtures';
import { expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { describeError } from '../src/report-error.js';
import { Style, width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

// What the command prints, to the letter. The results are stored ones, so that only the printing is compared;
// `vitest run --project flashstack golden -u` writes the files again.

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

interface Look {
  readonly name: string;
  readonly env: Record<string, string>;
  readonly terminal: boolean;
  readonly flags: readonly string[];
}

const looks: readonly Look[] = [
  { name: 'terminal', env: { LANG: 'C.UTF-8' }, terminal: true, flags: [] },
  { name: 'pipe', env: { LANG: 'C.UTF-8' }, terminal: false, flags: [] },
  { name: 'no-color', env: { LANG: 'C.UTF-8', NO_COLOR: '1' }, terminal: true, flags: [] },
  { name: 'ascii', env: { LANG: 'C.UTF-8' }, terminal: false, flags: ['--ascii'] },
];

const commands: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['report', ['report', fixture('greedy.json')]],
  ['compare', ['compare', fixture('greedy.json'), fixture('fifo.json')]],
  ['mapping-size', ['mapping-size']],
  ['readahead-sim', ['readahead-sim', '--reads', '0:4KiBx20,0:1MiB,random:2KiBx5', '--policy', 'linux-2.6.37']],
  ['validate', ['validate', 'slc-nand-256m', 'intel-x25m-g1-80', '--quiet']],
];

for (const [name, args] of commands) {
  for (const { name: look, env, terminal, flags } of looks) {
    test(`${name}, ${look}`, async () => {
      const host = new FakeHost({ env, terminal });
      const code = await runCli([...args, ...flags], host, settings);
      const text = `${host.out}${host.err}`;
      expect(code).toBe(0);
      for (const line of text.split('\n')) expect(width(line), line).toBeLessThanOrEqual(80);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII
      if (look === 'ascii') expect(text).toMatch(/^[\x00-\x7f]*$/);
      if (look !== 'terminal') expect(text).not.toContain('\u001b');
      else expect(text).toContain('\u001b[');
      await expect(text).toMatchFileSnapshot(`golden/${name}.${look}.txt`);
    });
  }
}

for (const { name: look, env, terminal, flags } of looks) {
  test(`image, ${look}`, async () => {
    const folder = mkdtempSync(`${tmpdir()}/flashstack-golden-`);
    const image = `${folder}/small.ext4`;
    const host = new FakeHost({ env, terminal });
    const run = async (...args: string[]): Promise<number> =>
      await runCli(['image', ...args, ...flags], host, settings);
    try {
      writeFileSync(`${folder}/a file`, 'contents\n');
      symlinkSync('a file', `${folder}/link`);
      expect(await run('mkfs', image, '--fs', 'ext4', '--size', '8MiB', '-O', 'label=golden')).toBe(0);
      expect(await run('cp', `${folder}/a file`, `${folder}/link`, `${image}:/lost+found`)).toBe(0);
      for (const command of ['tree', 'dump', 'journal', 'fsck']) expect(await run(command, image)).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(host.err).toBe('');
    const text = host.out.replaceAll(`${folder}/`, '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII
    if (look === 'ascii') expect(text).toMatch(/^[\x00-\x7f]*$/);
    if (look === 'terminal') expect(text).toContain('\u001b[');
    await expect(text).toMatchFileSnapshot(`golden/image.${look}.txt`);
  });
}

test.each([
  ['terminal', new Style(true, false)],
  ['pipe', new Style(false, false)],
  ['ascii', new Style(false, true)],
])('a spec with a slip, %s', async (look, style) => {
  const text = readYaml('device: mqsim-b8\nworkload: random\nftl:\n  gcMode: token\n  victm: greedy\n', 'zipf.yaml');
  const error: unknown = await readSpec(text.data, { name: 'zipf', folder: '.', text }).catch(
    (found: unknown) => found,
  );
  await expect(describeError(error, style)).toMatchFileSnapshot(`golden/bad-spec.${look}.txt`);
});

test.each([
  'run',
  'replay',
  'report',
  'compare',
  'export',
  'schema',
  'trace convert',
  'validate',
  'readahead-sim',
  'crash run',
  'crash replay',
  'crash merge',
  'crash report',
  'image mkfs',
  'image cp',
  'image fsck',
  'image ls',
])('help of %s', async (command) => {
  const host = new FakeHost({ env: { LANG: 'C.UTF-8' } });
  expect(await runCli([...command.split(' '), '--help'], host, settings)).toBe(0);
  for (const line of host.out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  await expect(host.out).toMatchFileSnapshot(`golden/help.${command.replace(' ', '-')}.txt`);
});
