import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ExperimentResult, type NamedResult, resultTables, runExperiment } from '../src/index.js';
import {
  exportResults,
  HostError,
  readResult,
  resultText,
  WholeFile,
  writeResult,
  writeWhole,
} from '../src/node/index.js';
import { smallSpec } from './small-spec.js';

const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);
const short = { ...smallSpec, workload: { kind: 'random', parameters: { requests: 6000, readShare: 0.3 } } };
let results: NamedResult[];

beforeAll(async () => {
  const clock = { cpuSeconds: () => 1, maxRssBytes: () => 2 };
  results = [];
  for (const seed of [1, 2])
    results.push({ run: `r, "${seed}"`, result: await runExperiment({ ...short, seed }, { clock }) });
});

describe('the file of a result', () => {
  test('comes back as it was, without what differs from run to run', () => {
    const { result } = results[0];
    const path = writeResult(result, folder(), 'a');
    expect(path).toMatch(/\/a\.json$/);
    const read = readResult(path);
    const metrics = Object.fromEntries(Object.entries(result.metrics).filter(([name]) => !name.startsWith('run.')));
    expect(read).toEqual(JSON.parse(JSON.stringify({ ...result, metrics })));
    expect(Object.keys(result.metrics).length).toBeGreaterThan(Object.keys(metrics).length);
    // Lists of numbers take a line each, not a line a number.
    expect(resultText(result).split('\n').length).toBeLessThan(2000);
  });

  test('of an interrupted run says so in its name', () => {
    const partial = { atNs: 1, requests: 1, of: 2 };
    expect(writeResult({ ...results[0].result, partial }, folder(), 'a')).toMatch(/\/a\.partial\.json$/);
  });

  test('is refused if it is no result, or of a newer version', () => {
    const at = folder();
    const file = (text: string): string => {
      writeFileSync(`${at}/x.json`, text);
      return `${at}/x.json`;
    };
    expect(() => readResult(`${at}/none.json`)).toThrow('there is no such file');
    expect(() => readResult(at)).toThrow('this is a folder');
    expect(() => readResult(file('{'))).toThrow('it is no JSON');
    expect(() => readResult(file('{"a":1}'))).toThrow('it has no schema');
    expect(() => readResult(file('null'))).toThrow('it has no schema');
    expect(() => readResult(file('{"schema":"flashstack.result/2"}'))).toThrow('a newer flashstack wrote this result');
    expect(() => readResult(file('{"schema":"flashstack.result/0"}'))).toThrow('no longer read');
  });

  test('is refused if a part of it is missing or of another kind', () => {
    const path = `${folder()}/x.json`;
    const whole = JSON.parse(resultText(results[0].result)) as Record<string, unknown>;
    const refused = (change: Record<string, unknown>): void => {
      writeFileSync(path, JSON.stringify({ ...whole, ...change }));
      expect(() => readResult(path), JSON.stringify(change)).toThrow('this result is damaged');
    };
    // Left out, null (but where null means something), or a number where there is none.
    for (const key of Object.keys(whole).filter((key) => key !== 'schema')) {
      refused({ [key]: undefined });
      refused({ [key]: key === 'seed' ? 'one' : 5 });
    }
    refused({ spec: {} });
    refused({ metrics: { 'host.read.requests': 'many' } });
    writeFileSync(path, JSON.stringify(whole));
    expect(readResult(path)).toEqual(whole);
  });
});

describe('whole files or nothing', () => {
  test('makes the folder, replaces what was there, leaves nothing else', () => {
    const at = folder();
    writeWhole(`${at}/a/b/r.json`, 'one');
    writeWhole(`${at}/a/b/r.json`, 'two');
    expect(readFileSync(`${at}/a/b/r.json`, 'utf8')).toBe('two');
    expect(readdirSync(`${at}/a/b`)).toEqual(['r.json']);
  });

  test('in pieces: nothing under the name until the end, and nothing at all when it is dropped', () => {
    const at = folder();
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
    writeWhole(`${at}/a`, 'before');
    for (const keep of [false, true]) {
      const file = new WholeFile(`${at}/a`);
      file.write(bytes('one '));
      file.write(bytes('two'));
      expect(readFileSync(`${at}/a`, 'utf8')).toBe('before');
      if (keep) file.end();
      file.drop();
      expect(readdirSync(at)).toEqual(['a']);
    }
    expect(readFileSync(`${at}/a`, 'utf8')).toBe('one two');
  });

  test('a full disk: one sentence, nothing left under that name', () => {
    // Every write to /dev/full fails with ENOSPC; the temporary name is a link to it.
    expect(existsSync('/dev/full')).toBe(true);
    const at = folder();
    const target = `${at}/r.json`;
    symlinkSync('/dev/full', `${target}.${process.pid}.tmp`);
    const write = (): void => writeWhole(target, 'x'.repeat(3000));
    expect(write).toThrow(HostError);
    symlinkSync('/dev/full', `${target}.${process.pid}.tmp`);
    expect(write).toThrow('no space left on device (3 KiB needed). Nothing was written under that name.');
    expect(readdirSync(at)).toEqual([]);
  });

  test('a device or a pipe is written to, not replaced', () => {
    const at = folder();
    symlinkSync('/dev/null', `${at}/null`);
    symlinkSync('/dev/full', `${at}/full`);
    writeWhole(`${at}/null`, 'x');
    expect(() => writeWhole(`${at}/full`, 'x')).toThrow('no space left on device');
    expect(readdirSync(at).sort()).toEqual(['full', 'null']);
    for (const name of ['full', 'null']) expect(lstatSync(`${at}/${name}`).isSymbolicLink()).toBe(true);
  });

  test('a file where a folder should be, and the other way round', () => {
    const at = folder();
    writeFileSync(`${at}/x`, '');
    expect(() => writeWhole(`${at}/x/r.json`, '1')).toThrow(/a part of the path is a file, not a folder/);
    mkdirSync(`${at}/y/r.json`, { recursive: true });
    expect(() => writeWhole(`${at}/y/r.json`, '1')).toThrow(/there is a folder of that name/);
    expect(readdirSync(`${at}/y`)).toEqual(['r.json']);
  });

  test.skipIf(!existsSync('/proc/self'))('a folder that no one can make', () => {
    expect(() => writeWhole('/proc/flashstack/a/r.json', '1')).toThrow(/no folder can be made there/);
  });

  test.skipIf(process.getuid?.() === 0)('a folder that may not be written', () => {
    const at = folder();
    chmodSync(at, 0o500);
    expect(() => writeWhole(`${at}/r.json`, '1')).toThrow(/permission denied/);
  });
});

describe('tables', () => {
  /** The rows that a query gives. */
  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const reader = await connection.runAndReadAll(sql);
    const rows = reader.getRowObjects() as Record<string, unknown>[];
    connection.closeSync();
    instance.closeSync();
    return rows;
  }

  test.each(['csv', 'parquet'] as const)('as %s are what DuckDB reads', async (format) => {
    const at = folder();
    const paths = exportResults(results, format, at);
    expect(readdirSync(at).sort()).toEqual(
      ['distributions', 'heatmaps', 'histograms', 'metrics', 'series', 'writes'].map((name) => `${name}.${format}`),
    );
    for (const table of resultTables(results)) {
      const path = paths.find((candidate) => candidate.endsWith(`/${table.name}.${format}`));
      const rows = await query(`SELECT * FROM '${path}'`);
      expect(rows.length).toBe(table.columns[0].values.length);
      expect(rows.length).toBeGreaterThan(0);
      expect(Object.keys(rows[0])).toEqual(table.columns.map(({ name }) => name));
      for (const { name, type, values } of table.columns) {
        const found = rows.map((row) => row[name]);
        const wanted = values.map((value) => (Number.isNaN(value) ? null : value));
        if (type === 'text') expect(found).toEqual(wanted);
        else expect(found.map((value) => (value === null ? null : Number(value)))).toEqual(wanted);
      }
    }
  });

  test('answer a question over several runs', async () => {
    const at = folder();
    exportResults(results, 'parquet', at);
    const rows = await query(
      `SELECT metric, avg(value) AS mean FROM '${at}/metrics.parquet' WHERE metric = 'ftl.waf' GROUP BY metric`,
    );
    const mean = results.reduce((sum, { result }) => sum + result.metrics['ftl.waf'], 0) / 2;
    expect(rows).toEqual([{ metric: 'ftl.waf', mean: expect.closeTo(mean, 12) }]);
  });

  test('the file of a result is JSON that DuckDB reads', async () => {
    const result: ExperimentResult = results[0].result;
    const path = writeResult(result, folder(), 'a');
    const rows = await query(`SELECT specHash, seed, metrics['ftl.waf'] AS waf FROM read_json('${path}')`);
    expect(rows.map((row) => ({ ...row, seed: Number(row.seed) }))).toEqual([
      { specHash: result.specHash, seed: 1, waf: result.metrics['ftl.waf'] },
    ]);
  });
});
