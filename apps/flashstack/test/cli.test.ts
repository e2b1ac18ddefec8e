import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { fixtureUrl } from '@flashstack/fixtures';
import { presets, provenanceOf } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const trace = fileURLToPath(fixtureUrl('postgres.msr.csv.gz'));
const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);
const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };

interface Outcome {
  code: number;
  out: string;
  err: string;
}

async function cli(args: string, host = new FakeHost({})): Promise<Outcome> {
  const code = await runCli(args.split(' ').filter(Boolean), host, settings);
  return { code, out: host.out, err: host.err };
}

/** An error is one paragraph on stderr: no stack trace, nothing on stdout, no line over 80 columns. */
async function refused(args: string): Promise<string> {
  const { code, out, err } = await cli(args);
  expect(code).toBe(2);
  expect(out).toBe('');
  const lines = err
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(format|read|prepare|order) /.test(line));
  expect(lines[0]).toMatch(/^error: /);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {3,}\S/);
  expect(err).not.toMatch(/^\s+at /m);
  // Words that cannot be broken, such as a path, may stand out.
  for (const line of lines) if (line.trim().includes(' ')) expect(width(line)).toBeLessThanOrEqual(100);
  return lines.map((line) => line.trim()).join(' ');
}

function file(text: string | Uint8Array, name = 't.csv'): string {
  const path = `${folder()}/${name}`;
  writeFileSync(path, text);
  return path;
}

const line = '128166372003061629,web,0,Read,7014609920,4096,41286';

describe('bad input', () => {
  test('a missing file, a folder, an empty file', async () => {
    expect(await refused('replay nowhere.csv --device emmc-5.0')).toContain(
      'error: nowhere.csv: there is no such file',
    );
    expect(await refused(`replay ${tmpdir()} --device emmc-5.0`)).toContain('this is a folder, not a trace file');
    expect(await refused(`replay ${file('')} --device emmc-5.0`)).toContain('the file is empty');
  });

  test('truncated gzip', async () => {
    const zipped = gzipSync(`${line}\n`.repeat(1000));
    const path = file(zipped.subarray(0, zipped.length / 2), 't.csv.gz');
    expect(await refused(`replay ${path} --device emmc-5.0`)).toContain('the file is truncated');
  });

  test('the wrong format named, an unknown one, one that cannot be recognised', async () => {
    const mqsim = fileURLToPath(fixtureUrl('fio-fsync.mqsim.txt.gz'));
    expect(await refused(`replay ${mqsim} --format msr --device emmc-5.0`)).toContain('The file looks like mqsim');
    expect(await refused(`replay ${trace} --format mrs --device emmc-5.0`)).toContain('Did you mean msr?');
    expect(await refused(`replay ${file('hello world\n')} --device emmc-5.0`)).toContain('not recognised');
  });

  test('too few columns and a negative number: file, line, column', async () => {
    expect(await refused(`replay ${file(`${line}\n1,2,3\n`)} --format msr --device emmc-5.0`)).toMatch(
      /t\.csv:2:6: the line has 3 columns, at least 6 are needed 1,2,3 \^ Columns: time,host/,
    );
    expect(
      await refused(`replay ${file(`${line}\n${line.replace('4096', '-4096')}\n`)} --format msr --device emmc-5.0`),
    ).toMatch(/t\.csv:2:42: size is negative .*\^{5} Columns/);
  });

  test('a request beyond the drive', async () => {
    expect(await refused(`replay ${file(`${line}\n`)} --format msr --device emmc-5.0 --capacity 1GiB`)).toMatch(
      /t\.csv: request 1 ends at 6\.5 GiB; the device has 1 GiB\. Choose how to map addresses: --address wrap/,
    );
  });

  test('unknown presets, policies, options, commands: with the nearest name', async () => {
    expect(await refused(`replay ${trace} --device emmc-5.1`)).toContain('Did you mean emmc-5.0?');
    expect(await refused(`replay ${trace} --device emmc-5.0 --address warp`)).toContain('Did you mean wrap?');
    expect(await refused(`replay ${trace} --device emmc-5.0 --precondition stedy`)).toContain('Did you mean steady?');
    expect(await refused(`replay ${trace} --device emmc-5.0 --scheduler evnt`)).toContain('Did you mean event?');
    expect(await refused(`replay ${trace} --device emmc-5.0 --loop clsed`)).toContain('Did you mean closed?');
    expect(await refused(`replay ${trace} --devise emmc-5.0`)).toContain('Did you mean --device?');
    expect(await refused('replya')).toContain('Did you mean replay?');
    expect(await refused('devices show generic-tlc')).toContain('Did you mean "generic-tlc-nvme"?');
  });

  test('missing and malformed values', async () => {
    expect(await refused('replay --device emmc-5.0')).toContain("missing required argument 'trace'");
    expect(await refused(`replay ${trace}`)).toContain('--device is missing');
    expect(await refused(`replay ${trace} --device emmc-5.0 --repeat 0`)).toContain(
      '--repeat is "0", expected a whole number',
    );
    expect(await refused(`replay ${trace} --device emmc-5.0 --capacity big`)).toContain('--capacity is "big"');
    expect(await refused(`replay ${trace} --device emmc-5.0 --loop closed:x`)).toContain('--loop is "closed:x"');
    expect(await refused(`replay ${trace} --device emmc-5.0 --loop open --time-scale -1`)).toContain(
      '--time-scale is "-1"',
    );
    expect(await refused(`replay ${trace} --device emmc-5.0 --time-scale 2`)).toContain('Add --loop open');
    expect(await refused(`replay ${trace} --device emmc-5.0 --loop open --time-scale 1e9 --repeat 100`)).toContain(
      'Choose a smaller time scale or fewer passes',
    );
    expect(await refused(`replay ${trace} --device emmc-5.0 --seed 1.5`)).toContain('--seed is "1.5"');
    expect(await refused(`replay ${trace} --device emmc-5.0 --seed 99999999999999999`)).toContain(
      '--seed is "99999999999999999"',
    );
    expect(await refused(`replay ${trace} --device emmc-5.0 --capacity 9999999T`)).toContain(
      'expected a size from 1 to 1PiB',
    );
    expect(await refused(`replay ${trace} --device emmc-5.0 --out=`)).toContain('expected the name of a folder');
    expect(await refused(`replay ${trace} --device emmc-5.0 --set constructor=1`)).toContain('unknown key constructor');
    expect(await refused('devices --color sometimes')).toContain('Expected auto, always or never');
  });

  test('over-provisioning too small to collect garbage', async () => {
    const error = await refused(`replay ${trace} --device generic-tlc-nvme --capacity 4GiB --over-provisioning 0.1%`);
    expect(error).toMatch(/leave 0\.\d+ % over-provisioning, too little to collect garbage/);
    expect(error).toContain('Choose a larger --capacity or --over-provisioning.');
  });

  test('impossible geometry: an odd page, no planes, a path that does not exist', async () => {
    const command = `replay ${trace} --device emmc-5.0`;
    expect(await refused(`${command} --set nand.geometry.planes=0`)).toContain('planes');
    expect(await refused(`${command} --set nand.geometry.pageBytes=5000`)).toContain('pageBytes');
    expect(await refused(`${command} --set nand.geometry.plane=1`)).toContain('Did you mean planes?');
    expect(await refused(`${command} --set ftl.victim=gredy`)).toContain('Did you mean "greedy"?');
    expect(await refused(`${command} --set ftl.victim`)).toContain('expected PATH=VALUE');
    expect(await refused(`${command} --over-provisioning lots`)).toContain('--over-provisioning is "lots"');
  });

  test('impossible geometry: a capacity too small for the parallelism', async () => {
    expect(await refused(`replay ${trace} --device generic-tlc-nvme --capacity 1MiB`)).toContain(
      'Smallest possible here',
    );
  });

  test('--debug adds the stack trace', async () => {
    const { err } = await cli('devices show nothing --debug');
    expect(err).toMatch(/^\s+at /m);
  });
});

describe('help', () => {
  test('of the program and of replay: options, exit codes', async () => {
    const root = await cli('--help');
    expect(root.code).toBe(0);
    expect(root.out).toContain('130  interrupted');
    const replay = await cli('replay --help');
    for (const option of [
      '--format',
      '--loop',
      '--address',
      '--repeat',
      '--precondition',
      '--capacity',
      '--seed',
      '--scheduler',
      '--json',
      '--out',
    ]) {
      expect(replay.out).toContain(option);
    }
    expect(replay.out).toContain('Exit codes');
    for (const text of [...root.out.split('\n'), ...replay.out.split('\n')])
      expect(text.length).toBeLessThanOrEqual(80);
    expect((await cli('--version')).out).toBe('1.2.3\n');
    expect((await cli('')).code).toBe(2);
  });
});

describe('devices', () => {
  test('all presets, each with its summary, in 80 columns', async () => {
    const { code, out } = await cli('devices');
    expect(code).toBe(0);
    for (const preset of presets) expect(out).toContain(preset.name);
    for (const text of out.split('\n')) expect(width(text)).toBeLessThanOrEqual(80);
  });

  test.each(presets.map((preset) => preset.name))('show %s', async (name) => {
    const { code, out } = await cli(`devices show ${name} --ascii`);
    expect(code).toBe(0);
    for (const text of out.split('\n')) expect(text.length).toBeLessThanOrEqual(80);
    for (const label of ['capacity', 'flash', 'timing', 'mapping', 'provenance of values', 'chosen', 'sources'])
      expect(out).toContain(label);
    expect(out).not.toMatch(/NaN|undefined|Infinity|\b1 [a-z]+s\b/);
    expect(out.includes('declared miss')).toBe(/^ {4}miss of /m.test(out));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII
    expect(out).toMatch(/^[\x00-\x7f]*$/);
  });

  test('as JSON, of all and of one', async () => {
    const all = JSON.parse((await cli('devices --json')).out) as { name: string }[];
    expect(all.map((entry) => entry.name)).toEqual(presets.map((preset) => preset.name));
    const one = JSON.parse((await cli('devices show emmc-5.0 --json')).out) as unknown;
    const emmc = presets.find((preset) => preset.name === 'emmc-5.0');
    expect(one).toEqual(JSON.parse(JSON.stringify({ ...emmc, provenance: provenanceOf('emmc-5.0') })));
  });
});
