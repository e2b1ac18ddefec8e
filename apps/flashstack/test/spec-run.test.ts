import {
  copyFileSync,
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
import { fileURLToPath } from 'node:url';
import type { ExperimentResult } from '@flashstack/experiment';
import { fixtureUrl } from '@flashstack/fixtures';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const postgres = fileURLToPath(fixtureUrl('postgres.msr.csv.gz'));
const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);

interface Outcome {
  code: number;
  out: string;
  err: string;
}

async function cli(args: readonly string[], host = new FakeHost({ env: { LANG: 'C' } })): Promise<Outcome> {
  const code = await runCli(args, host, settings);
  return { code, out: host.out, err: host.err };
}

const text = `
device: { preset: mqsim-b8, capacity: 128MiB, overProvisioning: 25% }
workload: { kind: random, requests: 20k, readShare: 0.3 }
precondition: fill
nand: { geometry: { channels: 4, planes: 1, blocksPerPlane: 80 } }
`;

function spec(contents = text, name = 'small.yaml'): string {
  const path = `${folder()}/${name}`;
  writeFileSync(path, contents);
  return path;
}

const read = (path: string): ExperimentResult => JSON.parse(readFileSync(path, 'utf8')) as ExperimentResult;

describe('run', () => {
  test('a spec: the summary, and with --out the result and its report', async () => {
    const out = folder();
    const { code, out: shown } = await cli(['run', spec(), '--out', out]);
    expect(code).toBe(0);
    const lines = shown.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^random on mqsim-b8 +seed 1 - spec [0-9a-f]{8}$/);
    expect(shown).toContain(`report   ${out}/small.html\nresult   ${out}/small.json\n`);
    expect(readdirSync(out).sort()).toEqual(['small.html', 'small.json']);
    expect(read(`${out}/small.json`)).toMatchObject({ schema: 'flashstack.result/1', partial: null, seed: 1 });
    expect(readFileSync(`${out}/small.html`, 'utf8')).toMatch(/^<!doctype html>/i);
  });

  test('a trace by its path relative to the spec', async () => {
    const at = folder();
    mkdirSync(`${at}/traces`);
    writeFileSync(`${at}/traces/p.msr.csv.gz`, readFileSync(postgres));
    writeFileSync(
      `${at}/t.yaml`,
      'device: { preset: emmc-5.0, capacity: 1GiB }\nworkload: { trace: traces/p.msr.csv.gz, limit: 100 }\n',
    );
    const { code, out } = await cli(['run', `${at}/t.yaml`]);
    expect(code).toBe(0);
    expect(out).toMatch(/^p on emmc-5\.0/);
    expect(out).toContain('100 issued = 100 completed + 0 failed.');
  });

  test('flags and --set change the spec before it is read', async () => {
    const { out } = await cli([
      'run',
      spec(),
      '--seed',
      '7',
      '--set',
      'ftl.victim=fifo',
      '--set',
      'workload.requests=500',
      '--json',
    ]);
    const result = JSON.parse(out) as ExperimentResult;
    expect(result.seed).toBe(7);
    expect(result.spec.device.ftl.victim).toBe('fifo');
    expect(result.metrics['host.completed']).toBe(500);
  });

  test('a warm-up is left out of the metrics, and told', async () => {
    const { out } = await cli(['run', spec(), '--warmup', '25%', '--json']);
    const result = JSON.parse(out) as ExperimentResult;
    expect(result.warmup?.requests).toBe(5000);
    expect(result.metrics['host.completed']).toBe(15_000);
    expect(result.spec.warmup).toEqual({ share: 0.25 });
    const long = await cli(['run', spec(), '--warmup', '100 s']);
    expect([long.code, long.err.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('warmup is as long as the run'),
    ]);
  });

  test('several seeds: a result each, and their spread', async () => {
    const out = folder();
    const { code, out: shown } = await cli(['run', spec(), '--seeds', '3', '--out', out]);
    expect(code).toBe(0);
    expect(readdirSync(out).sort()).toEqual(['small-seed1.json', 'small-seed2.json', 'small-seed3.json', 'small.html']);
    expect([1, 2, 3].map((seed) => read(`${out}/small-seed${seed}.json`).seed)).toEqual([1, 2, 3]);
    expect(shown).toMatch(/^small, 3 seeds\n/);
    expect(shown).toMatch(/^throughput, MB\/s +\d[\d. ]* \+- [\d.]+$/m);
    for (const line of shown.split('\n')) expect(width(line), line).toBeLessThanOrEqual(80);
  });

  test('a saved drive gives the same result as a new one, and only to the same preparation', async () => {
    const at = folder();
    const steady = spec(text.replace('fill', 'steady'));
    const saved = await cli(['run', steady, '--save-drive', `${at}/d.img`, '--out', `${at}/a`]);
    expect(saved.code).toBe(0);
    const loaded = await cli(['run', steady, '--load-drive', `${at}/d.img`, '--out', `${at}/b`]);
    expect(loaded.code).toBe(0);
    expect(readFileSync(`${at}/b/small.json`, 'utf8')).toBe(readFileSync(`${at}/a/small.json`, 'utf8'));
    const other = await cli(['run', steady, '--load-drive', `${at}/d.img`, '--seed', '2']);
    expect([other.code, other.err.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('prepared from another device, precondition, seed'),
    ]);
    const missing = await cli(['run', steady, '--load-drive', `${at}/none.img`]);
    expect([missing.code, missing.err.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('there is no such file'),
    ]);
  });

  test('what channels and dies did, for a trace viewer', async () => {
    const path = `${folder()}/t.json`;
    const { code } = await cli(['run', spec(), '--set', 'workload.requests=200', '--trace-events', path]);
    expect(code).toBe(0);
    const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: { ph: string }[] };
    expect(traceEvents.filter(({ ph }) => ph === 'X').length).toBeGreaterThan(200);
  });
});

describe('the same bytes', () => {
  test('twice, also after an interrupted run of the same spec', async () => {
    const out = folder();
    const path = spec(text.replace('20k', '200k'));
    const host = new FakeHost({ env: { LANG: 'C' }, terminal: true });
    let seen = 0;
    host.onErr = () => {
      // The clock of the test does not run, so every update is the first of its phase.
      if (host.err.includes('run ') && ++seen === 1) host.interrupt();
    };
    const interrupted = await cli(['run', path, '--out', out, '--color', 'never'], host);
    expect(interrupted.code).toBe(130);
    expect(readdirSync(out).sort()).toEqual(['small.partial.html', 'small.partial.json']);
    const partial = read(`${out}/small.partial.json`);
    expect(partial.partial).not.toBeNull();
    expect(partial.metrics['host.completed']).toBeLessThan(200_000);
    const first = await cli(['run', path, '--out', `${out}/1`]);
    const second = await cli(['run', path, '--out', `${out}/2`]);
    expect([first.code, second.code]).toEqual([0, 0]);
    for (const name of ['small.json', 'small.html']) {
      expect(readFileSync(`${out}/2/${name}`, 'utf8')).toBe(readFileSync(`${out}/1/${name}`, 'utf8'));
    }
    expect(second.out.replaceAll(`${out}/2`, '')).toBe(first.out.replaceAll(`${out}/1`, ''));
    expect(read(`${out}/1/small.json`).specHash).toBe(partial.specHash);
  });
});

describe('Ctrl-C', () => {
  /** Interrupts when the text comes for the n-th time. */
  function interruptedAt(text: string, times: number): FakeHost {
    const host = new FakeHost({ env: { LANG: 'C' }, terminal: true });
    let seen = 0;
    host.onErr = (written) => {
      if (written.includes(text) && ++seen === times) host.interrupt();
    };
    return host;
  }

  test('while a later seed is prepared: the seeds before it are shown and kept', async () => {
    const out = folder();
    const host = interruptedAt('written once ...', 3);
    const { code } = await cli(['run', spec(), '--seeds', '5', '--out', out, '--color', 'never'], host);
    expect(code).toBe(130);
    expect(host.out).toContain('2 seeds');
    expect(host.err).not.toContain('before anything was simulated');
    expect(readdirSync(out).sort()).toEqual(['small-seed1.json', 'small-seed2.json', 'small.partial.html']);
  });

  test('while the first is prepared: nothing', async () => {
    const out = folder();
    const host = interruptedAt('written once ...', 1);
    const { code } = await cli(['run', spec(), '--seeds', '5', '--out', out], host);
    expect([code, host.out]).toEqual([130, '']);
    expect(host.err).toContain('interrupted before anything was simulated');
    expect(readdirSync(out)).toEqual([]);
  });

  test('while modules are loaded: nothing either, and no defect', async () => {
    const at = folder();
    // The module is the one who is asked while the spec is read.
    const host = new FakeHost({});
    (globalThis as { pressed?: () => void }).pressed = () => host.interrupt();
    writeFileSync(`${at}/slow.ts`, 'globalThis.pressed(); export const victims = [];');
    const path = spec(`modules: [${at}/slow.ts]\n${text}`);
    const { code, err } = await cli(['run', path, '--out', `${at}/out`], host);
    expect([code, err]).toEqual([130, expect.stringContaining('interrupted before anything was simulated')]);
    expect(readdirSync(at)).toEqual(['slow.ts']);
  });
});

describe('bad specs: one paragraph, exit code 2, no file', () => {
  const device = 'device: mqsim-b8\nworkload: random\n';

  async function refused(contents: string): Promise<string> {
    const at = folder();
    const path = spec(contents);
    const { code, out, err } = await cli(['run', path, '--out', at]);
    expect([code, out]).toEqual([2, '']);
    expect(readdirSync(at)).toEqual([]);
    expect(err).not.toMatch(/^\s+at /m);
    const lines = err.trimEnd().split('\n');
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {3}/);
    return err.replaceAll(path, 'small.yaml');
  }

  test('a module that fails is named; --debug shows where in it', async () => {
    const at = folder();
    writeFileSync(`${at}/mine.ts`, 'function broken(): never { throw new Error("no luck"); }\nbroken();\n');
    const path = spec(`${device}modules: [${at}/mine.ts]\n`);
    const { err } = await cli(['run', path]);
    expect(err.replace(/\s+/g, ' ')).toContain('mine.ts cannot be loaded: no luck');
    expect(err).not.toContain('at broken');
    expect((await cli(['run', path, '--debug'])).err).toMatch(/at broken \(.*mine\.ts/);
  });

  test('an unknown key, as designed', async () => {
    expect(await refused(`${device}ftl:\n  victm: greedy\n`)).toBe(`\
error: small.yaml:4:3: unknown key ftl.victm.
   3 | ftl:
   4 |   victm: greedy
     |   ^^^^^  did you mean victim?
   See: flashstack schema ftl
`);
  });

  test.each([
    ['a wrong type', `${device}seed: many\n`, 'seed is "many"'],
    ['a wrong unit', `${device}gatherNs: 4KiB\n`, 'expected a time'],
    ['a key twice', `${device}device: emmc-5.0\n`, 'key device stands twice'],
    ['a missing module', `${device}modules: [nowhere.ts]\n`, 'there is no such file'],
    ['a missing trace', 'device: mqsim-b8\nworkload: nowhere.csv\n', 'there is no such file'],
    ['no YAML', 'device: [\n', 'this is no YAML'],
    [
      'too little spare space',
      `device: { preset: mqsim-b8, capacity: 256MiB, overProvisioning: 0.1% }\nworkload: random\n`,
      'too little to collect garbage',
    ],
  ])('%s', async (_, contents, message) => {
    expect((await refused(contents)).replace(/\s+/g, ' ')).toContain(message);
  });

  test('--set of what is set elsewhere, or nowhere', async () => {
    const set = async (setting: string): Promise<string> => {
      const { code, err } = await cli(['run', spec(), '--set', setting]);
      expect(code).toBe(2);
      return err.replace(/\s+/g, ' ');
    };
    expect(await set('ftl.logicalSlots=5')).toContain('It follows from the capacity');
    expect(await set('capacityBytes=5')).toContain('--capacity');
    expect(await set('foo=1')).not.toContain('Did you mean');
    expect(await set('nand.geometry.plane=1')).toBe(
      'error: unknown key nand.geometry.plane. Did you mean planes? See: flashstack schema nand ',
    );
  });

  test('a small drive names the least capacity', async () => {
    const { code, err } = await cli([
      'replay',
      postgres,
      '--device',
      'generic-tlc-nvme',
      '--capacity',
      '512MiB',
      '--address',
      'wrap',
    ]);
    expect(code).toBe(2);
    const least = Number(
      /The least capacity of this drive with this over-provisioning is\s+(\d+)\s+MiB/.exec(err)?.[1],
    );
    expect(least).toBeGreaterThan(512);
    const fits = await cli([
      'replay',
      postgres,
      '--device',
      'generic-tlc-nvme',
      '--capacity',
      `${least}MiB`,
      '--address',
      'wrap',
    ]);
    expect(fits.code).toBe(0);
  });
});

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
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('is given twice')]);
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

describe('a policy of the user', () => {
  test('that fails is named as such, not as a defect of flashstack', async () => {
    const path = spec(`modules: [bad.ts]\n${text.replace('20k', '60k')}ftl: { victim: bad }\n`);
    const methods = 'attach() {}, closed() {}, invalidated() {}, removed() {}, reset() {}';
    const choose = `choose() { throw new Error('no idea'); }`;
    const kind = `{ name: 'bad', summary: 'x', parameters: [], create: () => ({ ${methods}, ${choose} }) }`;
    writeFileSync(path.replace('small.yaml', 'bad.ts'), `export const victims = [${kind}];\n`);
    const { code, err } = await cli(['run', path, '--debug']);
    expect(code).toBe(2);
    expect(err).toContain('the run failed: no idea\n   Modules of your own took part: look at bad.ts first.');
    expect(err).not.toContain('defect');
    expect(err).toMatch(/at .*bad\.ts:1/);
  });
});

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
