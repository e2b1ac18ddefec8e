import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { PresetValidation, ValidationCounts } from '@flashstack/experiment';
import { fixtureUrl } from '@flashstack/fixtures';
import { presets } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);

async function cli(args: string, host = new FakeHost({})): Promise<{ code: number; out: string; err: string }> {
  const code = await runCli(args.split(' ').filter(Boolean), host, settings);
  return { code, out: host.out, err: host.err };
}

/** A module with a drive that reads in 130 us, and says what figure is published and perhaps why it is missed. */
function moduleWith(name: string, perSecond: number, miss?: string): string {
  const path = `${folder()}/${name}.ts`;
  const figure = { metric: 'randomRead', value: perSecond, requestBytes: 2048, depth: 1, kind: 'predicted' };
  const figures = [{ ...figure, tolerance: 0.1, source: 'test', ...(miss === undefined ? {} : { miss }) }];
  writeFileSync(
    path,
    `import { resolvePreset } from '@flashstack/ssd';
const base = resolvePreset('slc-nand-256m');
export const presets = [{ ...base, name: '${name}', figures: ${JSON.stringify(figures)} }];
`,
  );
  return path;
}

describe('validate', () => {
  test('measures and compares; exit code 0 if everything is met or a declared miss', async () => {
    const { code, out, err } = await cli('validate slc-nand-256m');
    expect(code).toBe(0);
    expect(err).toBe('');
    expect(out).toContain('random read QD1');
    expect(out).toMatch(/⊙ 7\.69 k\/s +7\.69 k\/s +0\.0 % +✓ calibrated ±3 %/);
    expect(out).toContain('Within their bands: 1 of 1 calibrated.');
  });

  test('the same again, and as JSON the figures with their values', async () => {
    const first = await cli('validate slc-nand-256m --json');
    expect((await cli('validate slc-nand-256m --json')).out).toBe(first.out);
    const { counts, presets: found } = JSON.parse(first.out) as {
      counts: ValidationCounts;
      presets: PresetValidation[];
    };
    expect(counts.calibrated).toEqual({ of: 1, within: 1, declared: 0 });
    expect(found.map(({ name }) => name)).toEqual(['slc-nand-256m']);
    const [{ figure, simulated, error, verdict }] = found[0].checks;
    expect(figure).toEqual(presets.find(({ name }) => name === 'slc-nand-256m')?.figures[0]);
    expect(simulated / figure.value - 1).toBe(error);
    expect(verdict).toBe('within');
  });

  test('a figure outside its band: exit code 1', async () => {
    const { code, out } = await cli(`validate fast --module ${moduleWith('fast', 20_000)}`);
    expect(code).toBe(1);
    expect(out).toMatch(/20\.0 k\/s +7\.69 k\/s +−61\.5 % +✗ predicted ±10 %/);
    expect(out).toContain('Within their bands: 0 of 1 predicted.');
    // Nothing is known of the provenance of this drive's values, and nothing was fitted.
    expect(out).not.toMatch(/provenance of its values|⊙/);
  });

  test('a declared miss: exit code 0, with its reason; one that is met: exit code 1', async () => {
    const missed = await cli(`validate slow --module ${moduleWith('slow', 20_000, 'the bus is slow')}`);
    expect(missed.code).toBe(0);
    expect(missed.out).toContain('◐ random read QD1: the bus is slow');
    expect(missed.out).toContain('0 of 1 predicted (1 declared miss)');
    const met = await cli(`validate met --module ${moduleWith('met', 7700, 'the bus is slow')}`);
    expect(met.code).toBe(1);
    expect(met.out).toContain('✗ random read QD1: declared a miss, but met: take back "the bus is slow"');
  });

  test('--out writes the values and a page, and says where', async () => {
    const out = `${folder()}/found/`;
    const result = await cli(`validate slc-nand-256m --out ${out}`);
    expect(result.code).toBe(0);
    expect(readdirSync(out).sort()).toEqual(['validation.json', 'validation.md']);
    const { counts } = JSON.parse(readFileSync(`${out}validation.json`, 'utf8')) as { counts: ValidationCounts };
    expect(counts.unexplained).toBe(0);
    const page = readFileSync(`${out}validation.md`, 'utf8');
    // As it stands in the documentation.
    const whole = readFileSync(fileURLToPath(new URL('../../../docs/validation/presets.md', import.meta.url)), 'utf8');
    expect(whole).toContain(page.slice(page.indexOf('## slc-nand-256m')));
    expect(result.out).toMatch(/^page {5}.*validation\.md$/m);
  });

  test('a progress line on a terminal, erased at the end', async () => {
    const host = new FakeHost({ terminal: true });
    expect((await cli('validate slc-nand-256m', host)).code).toBe(0);
    expect(host.err).toContain('slc-nand-256m, figure 1 of 1');
    expect(host.err.endsWith('\r\u001b[K')).toBe(true);
  });

  test('Ctrl-C shows the drives that are whole, or says that there is none', async () => {
    const none = new FakeHost({ terminal: true });
    none.onErr = () => none.interrupt();
    expect((await cli('validate slc-nand-256m', none)).code).toBe(130);
    expect(none.out).toBe('');
    const one = new FakeHost({ terminal: true });
    one.onErr = (text) => {
      if (text.includes('emmc-5.0')) one.interrupt();
    };
    const { code, out } = await cli('validate slc-nand-256m emmc-5.0', one);
    expect(code).toBe(130);
    expect(out).toContain('slc-nand-256m');
    expect(out).not.toContain('emmc-5.0');
    expect(out).toContain('interrupted: what followed was not measured');
  });

  test('what cannot be is refused in one paragraph that says what to do', async () => {
    const refused = async (args: string): Promise<string> => {
      const { code, out, err } = await cli(args);
      expect([code, out]).toEqual([2, '']);
      for (const line of err.split('\n')) expect(width(line)).toBeLessThanOrEqual(80);
      return err;
    };
    expect(await refused('validate emmc-5.1')).toContain('Did you mean "emmc-5.0"?');
    expect(await refused('validate emmc-5.0 emmc-5.0')).toContain('the preset emmc-5.0 is named twice');
    expect(await refused('validate emmc-5.0 --out=')).toContain('expected the name of a folder');
    const path = `${folder()}/mute.ts`;
    writeFileSync(
      path,
      `import { resolvePreset } from '@flashstack/ssd';
export const presets = [{ ...resolvePreset('slc-nand-256m'), name: 'mute', figures: [] }];
`,
    );
    expect(await refused(`validate mute --module ${path}`)).toContain('the preset mute has no published figures');
  });
});
