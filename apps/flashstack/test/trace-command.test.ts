import { copyFileSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { width } from '../src/terminal.js';
import { cli, folder, postgres } from './spec-runs.js';

describe('traces', () => {
  test('info and convert', async () => {
    const at = folder();
    const info = await cli(['trace', 'info', postgres]);
    expect(info.code).toBe(0);
    expect(info.out).toMatch(/^ {2}requests +1 987 in 5\.39 s$/m);
    expect(info.out).toMatch(/^ {2}write +1 929 +91\.5 MiB/m);
    for (const line of info.out.split('\n').slice(1)) expect(width(line), line).toBeLessThanOrEqual(80);
    const json = JSON.parse((await cli(['trace', 'info', postgres, '--json'])).out) as { info: { requests: number } };
    expect(json.info.requests).toBe(1987);
    const converted = await cli(['trace', 'convert', postgres, `${at}/p.mqsim.txt.gz`, '--to', 'mqsim']);
    expect(converted.code).toBe(0);
    expect(converted.out).toContain('1 987 requests from msr to mqsim');
    const again = JSON.parse((await cli(['trace', 'info', `${at}/p.mqsim.txt.gz`, '--json'])).out) as typeof json;
    expect(again.info.requests).toBe(1987);
    // Amounts with units, as everywhere else.
    const limited = JSON.parse((await cli(['trace', 'info', postgres, '--json', '--limit', '1k'])).out) as typeof json;
    expect(limited.info.requests).toBe(1000);
    const denied = await cli(['trace', 'convert', postgres, `${at}/none/x.msr.csv`]);
    expect(denied.code).toBe(3);
    expect((await cli(['trace', 'convert', postgres, postgres])).code).toBe(2);
  });

  test('counts and sizes have units, as in a spec', async () => {
    const path = `${folder()}/t.log`;
    writeFileSync(path, 'W 1 2\nR 3 1\n'.repeat(1000));
    const pattern = ['--format', 'pattern', '--pattern', String.raw`(?<op>\w) (?<offset>\d+) (?<length>\d+)`];
    const units = ['--offset-unit', '4KiB', '--length-unit', '1k', '--limit', '1k'];
    const { out } = await cli(['trace', 'info', path, ...pattern, ...units, '--json']);
    const { info } = JSON.parse(out) as { info: { requests: number; endByte: number; write: { bytes: number } } };
    expect([info.requests, info.endByte, info.write.bytes]).toEqual([1000, 3 * 4096 + 1024, 500 * 2048]);
  });

  test('convert writes into what is no file, and touches no other file', async () => {
    const at = folder();
    symlinkSync('/dev/null', `${at}/null`);
    expect((await cli(['trace', 'convert', postgres, `${at}/null`, '--to', 'msr'])).code).toBe(0);
    expect(lstatSync(`${at}/null`).isSymbolicLink()).toBe(true);
    symlinkSync('/dev/full', `${at}/full`);
    expect((await cli(['trace', 'convert', postgres, `${at}/full`, '--to', 'msr'])).code).toBe(3);
    // A source whose name is that of the target with an ending.
    copyFileSync(postgres, `${at}/p.msr.csv.part`);
    expect((await cli(['trace', 'convert', `${at}/p.msr.csv.part`, `${at}/p.msr.csv`])).code).toBe(0);
    expect(readFileSync(`${at}/p.msr.csv.part`)).toEqual(readFileSync(postgres));
    expect(readdirSync(at).sort()).toEqual(['full', 'null', 'p.msr.csv', 'p.msr.csv.part']);
  });
});

describe('schema', () => {
  test('JSON Schema of the whole, words or JSON of a section', async () => {
    const whole = JSON.parse((await cli(['schema'])).out) as { required: string[] };
    expect(whole.required).toEqual(['device', 'workload']);
    const { out } = await cli(['schema', 'ftl']);
    expect(out).toMatch(/^ {2}victim +Which block garbage collection empties next\./m);
    for (const line of out.split('\n')) expect(width(line), line).toBeLessThanOrEqual(80);
    expect(JSON.parse((await cli(['schema', 'ftl', '--json'])).out)).toHaveProperty('properties.victim');
    expect((await cli(['schema', 'seed'])).out).toContain('Seed of everything random.');
    expect((await cli(['schema', 'flt'])).err).toContain('Did you mean "ftl"?');
  });
});
