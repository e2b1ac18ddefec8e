import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { width } from '../src/terminal.js';
import { cli, folder, read, spec, text } from './spec-runs.js';

describe('results', () => {
  async function made(changes: readonly string[], name: string, at: string): Promise<string> {
    const { code } = await cli(['run', spec(text, `${name}.yaml`), '--out', at, ...changes]);
    expect(code).toBe(0);
    return `${at}/${name}.json`;
  }

  test('report says again what run said, and writes page and pictures', async () => {
    const at = folder();
    const path = spec();
    const run = await cli(['run', path]);
    const file = await made([], 'small', at);
    const report = await cli(['report', file, '--html', `${at}/r.html`, '--png', `${at}/png`]);
    expect(report.code).toBe(0);
    const common = (shown: string): string =>
      shown
        .split('\n')
        .filter((line) => !/^(report|figure) /.test(line))
        .join('\n');
    expect(common(report.out)).toBe(common(run.out));
    expect(existsSync(`${at}/r.html`)).toBe(true);
    expect(readdirSync(`${at}/png`).filter((name) => name.endsWith('.png')).length).toBeGreaterThan(5);
  });

  test('compare: what differs first, absolute values, the change with its judgement, within 80 columns', async () => {
    const at = folder();
    const greedy = await made([], 'greedy', at);
    const fifo = await made(['--set', 'ftl.victim=fifo'], 'fifo', at);
    const { code, out } = await cli(['compare', greedy, fifo]);
    expect(code).toBe(0);
    const lines = out.split('\n');
    expect(lines[0]).toBe('2 experiments x 1 seed, baseline greedy');
    expect(lines[1]).toBe('Differ in ftl.victim (greedy / fifo).');
    expect(out).toMatch(/^write amplification +\d\.\d\d +\d\.\d\d worse +\+\d+(\.\d)? %$/m);
    expect(out).toMatch(/^mapping table, KiB +[\d ]+ =$/m);
    for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
    const one = await cli(['compare', greedy]);
    expect([one.code, one.err]).toEqual([2, expect.stringContaining('at least two')]);
  });

  test('compare: seeds are one column with their spread; two keys at once are pointed out; equal specs are told', async () => {
    const at = folder();
    await made(['--seeds', '3'], 'base', at);
    await made(['--seeds', '3', '--set', 'ftl.victim=random', '--set', 'queue.depth=4'], 'other', at);
    const files = readdirSync(at)
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${at}/${name}`);
    const { out } = await cli(['compare', ...files]);
    expect(out).toMatch(/^2 experiments x 3 seeds, baseline base\nDiffer in /);
    expect(out).toContain('2 keys at once for other');
    expect(out).toMatch(/^throughput, MB\/s +\S+ \+- \S+ +\S+ \+- \S+ (worse|same|better)/m);
    for (const command of ['compare', 'report']) {
      const same = await cli([
        command,
        files[0],
        files[0],
        ...(command === 'report' ? ['--html', `${at}/x.html`] : []),
      ]);
      expect([same.code, same.err]).toEqual([2, expect.stringContaining('are the same run, with seed 1.')]);
    }
    expect(existsSync(`${at}/x.html`)).toBe(false);
  });

  test('compare: another strategy is one key, its parameters included', async () => {
    const at = folder();
    const victim = 'ftl.victim={"name":"d-choices","parameters":{"d":4}}';
    const files = [await made([], 'base', at), await made(['--set', victim], 'other', at)];
    const { out } = await cli(['compare', ...files]);
    expect(out).toContain('Differ in ftl.victim (greedy / d-choices d=4).');
    expect(out).not.toContain('keys at once');
  });

  test('export: tables', async () => {
    const at = folder();
    const file = await made([], 'small', at);
    const { code, out } = await cli(['export', file, '--format', 'parquet', '--out', `${at}/t`]);
    expect(code).toBe(0);
    expect(out).toContain(`${at}/t/metrics.parquet`);
    expect(readFileSync(`${at}/t/metrics.parquet`).subarray(0, 4).toString()).toBe('PAR1');
  });

  test('export: files of the same name stay apart, one given twice is refused', async () => {
    const [a, b] = [folder(), folder()];
    const files = [await made([], 'small', a), await made(['--set', 'ftl.victim=fifo'], 'small', b)];
    const runsOf = (file: string): string[] => [
      ...new Set(
        readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .slice(1)
          .map((line) => line.split(',')[0]),
      ),
    ];
    expect((await cli(['export', ...files, '--format', 'csv', '--out', `${a}/t`])).code).toBe(0);
    expect(runsOf(`${a}/t/metrics.csv`)).toEqual(files.map((file) => file.replace('.json', '')));
    expect((await cli(['export', files[0], '--format', 'csv', '--out', `${b}/t`])).code).toBe(0);
    expect(runsOf(`${b}/t/metrics.csv`)).toEqual(['small']);
    const twice = await cli(['export', files[0], files[0], '--format', 'csv', '--out', `${b}/u`]);
    expect([twice.code, twice.err.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining('is given twice')]);
  });

  test('seeds that disagree about what limited them are told apart', async () => {
    const at = folder();
    const file = await made([], 'one', at);
    const result = read(file);
    const headline = 'Limited by the host link, at 99 % of its bound.';
    const other = { ...result, seed: 2, spec: { ...result.spec, seed: 2 }, analysis: { ...result.analysis, headline } };
    writeFileSync(`${at}/two.json`, JSON.stringify(other));
    const { out } = await cli(['compare', file, `${at}/two.json`]);
    expect(out).toContain(`\nseed 1: ${result.analysis.headline.slice(0, 40)}`);
    expect(out).toContain(`\nseed 2: ${headline}\n`);
  });

  test('no result, a newer one, no file', async () => {
    const at = folder();
    const refused = async (contents: string): Promise<string> => {
      writeFileSync(`${at}/r.json`, contents);
      const { code, out, err } = await cli(['report', `${at}/r.json`]);
      expect([code, out]).toEqual([2, '']);
      return err.replace(/\s+/g, ' ');
    };
    expect(await refused('{"schema":"flashstack.result/9"}')).toContain('a newer flashstack wrote this result');
    expect(await refused('nothing')).toContain('this is no result of flashstack');
    expect((await cli(['compare', `${at}/a.json`, `${at}/b.json`])).code).toBe(2);
  });
});
