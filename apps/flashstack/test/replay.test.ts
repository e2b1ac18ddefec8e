import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ExperimentResult } from '@flashstack/experiment';
import { fixtureUrl } from '@flashstack/fixtures';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const postgres = fileURLToPath(fixtureUrl('postgres.msr.csv.gz'));
const mqsim = fileURLToPath(fixtureUrl('fio-fsync.mqsim.txt.gz'));
const small = '--device emmc-5.0 --capacity 1GiB';
const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);

interface Outcome {
  code: number;
  out: string;
  err: string;
}

async function cli(args: string, host = new FakeHost({ env: { LANG: 'C' } })): Promise<Outcome> {
  const code = await runCli(args.split(' ').filter(Boolean), host, settings);
  return { code, out: host.out, err: host.err };
}

describe('replay', () => {
  test('the summary: identity, cause, table, why, conservation; within a screen', async () => {
    const { code, out, err } = await cli(`replay ${postgres} ${small} --precondition steady`);
    expect(err).toContain('format   msr (7 columns, times in 100 ns, bytes), recognised; 1 987 requests, 5.39 s');
    expect(err).toMatch(/^prepare {2}steady state, (analytic|written), \S+ (min|s)/m);
    expect(err).toMatch(/^cpu .* requests\/s of CPU/m);
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^postgres on emmc-5\.0 +seed 1 - spec [0-9a-f]{8}$/);
    expect(out).toMatch(/^ {2}read +58 /m);
    expect(out).toMatch(/^ {2}write +1 929 /m);
    expect(out).toMatch(/^ {2}write amplification {2}\d+\.\d\d {2}drive received 91\.5 MiB/m);
    expect(lines.at(-1)).toBe('1 987 issued = 1 987 completed + 0 failed.');
    expect(out).not.toMatch(/NaN|undefined|Infinity|CPU/);
  });

  test('the same bytes on stdout every time; another seed or scheduler gives another spec', async () => {
    const args = `replay ${postgres} ${small} --precondition steady --repeat 2`;
    const first = await cli(args);
    expect(first.code).toBe(0);
    expect((await cli(args)).out).toBe(first.out);
    expect((await cli(`${args} --seed 2`)).out).not.toBe(first.out);
    expect((await cli(`${args} --scheduler event`)).out.split('\n')[0]).not.toBe(first.out.split('\n')[0]);
  });

  test('a run of one write amplifies nothing; one whose writes stay in the buffer says so', async () => {
    const path = `${folder()}/one.txt`;
    writeFileSync(path, '0 0 0 8 0\n');
    expect((await cli(`replay ${path} ${small}`)).out).toMatch(
      /write amplification {2}1\.00 {2}drive received 4 KiB, /,
    );
    const lazy = '--set buffer.drain=watermark --set buffer.highWatermark=0.9 --set buffer.lowWatermark=0.5';
    const kept = await cli(`replay ${path} ${small} ${lazy}`);
    expect(kept.code, kept.err).toBe(0);
    expect(kept.out).toContain('write amplification  none: nothing left the write buffer for flash');
    expect(kept.out).not.toMatch(/NaN|Infinity/);
  });

  test('--json prints the result alone; --out writes it whole, with its report', async () => {
    const at = folder();
    const { code, out } = await cli(`replay ${postgres} ${small} --json --out ${at}/a`);
    expect(code).toBe(0);
    const result = JSON.parse(out) as ExperimentResult;
    expect(readdirSync(`${at}/a`).sort()).toEqual(['postgres.html', 'postgres.json']);
    // The file leaves out what differs from run to run, so that equal specs give equal files.
    const { metrics, ...rest } = result;
    const stable = Object.entries(metrics).filter(([name]) => !name.startsWith('run.'));
    const file = JSON.parse(readFileSync(`${at}/a/postgres.json`, 'utf8')) as unknown;
    expect(file).toEqual({ ...rest, metrics: Object.fromEntries(stable) });
    expect(result).toMatchObject({
      schema: 'flashstack.result/1',
      seed: 1,
      versions: { flashstack: '1.2.3' },
      partial: null,
    });
    const names = [
      ...['read', 'write', 'discard', 'flush'].flatMap((kind) => [`host.${kind}.requests`, `host.${kind}.bytes`]),
      ...['read', 'write'].flatMap((kind) =>
        ['mean', 'p50', 'p99', 'p999', 'max'].map((statistic) => `host.${kind}.latencyNs.${statistic}`),
      ),
      ...['read', 'write'].flatMap((kind) => [`host.${kind}.iops`, `host.${kind}.bytesPerSecond`]),
      ...['ftl.waf', 'ftl.gc.runs', 'ftl.gc.copies', 'ftl.gc.erases', 'ftl.map.bytes'],
      ...['nand.reads', 'nand.programs', 'nand.erases', 'nand.busyFraction.mean', 'nand.busyFraction.max'],
      ...['channel.busyFraction.mean', 'channel.busyFraction.max', 'sim.elapsedNs', 'sim.events'],
      ...['run.cpuSeconds', 'run.requestsPerCpuSecond', 'run.maxRssBytes'],
    ];
    for (const name of names) expect(typeof result.metrics[name], name).toBe('number');
    expect(result.metrics['host.read.requests']).toBe(58);
    expect(result.metrics['host.write.bytes']).toBe(95_932_416);
  });

  test('--verbose adds every metric, but none that differs from run to run', async () => {
    const { out } = await cli(`replay ${postgres} ${small} --verbose`);
    expect(out).toMatch(/^ {2}ftl\.gc\.erases +\d/m);
    expect(out).not.toContain('run.cpuSeconds');
  });

  test('--quiet leaves stderr empty', async () => {
    expect((await cli(`replay ${postgres} ${small} --quiet`)).err).toBe('');
  });

  test('open loop: recorded times, scaled; a slow drive falls behind less if there is more time', async () => {
    const at = folder();
    const run = async (scale: number): Promise<ExperimentResult> =>
      JSON.parse(
        (await cli(`replay ${mqsim} ${small} --loop open --time-scale ${scale} --json`)).out,
      ) as ExperimentResult;
    const [fast, real] = [await run(0.01), await run(1)];
    expect(readdirSync(at)).toEqual([]);
    // The last request arrives at the end of the recording.
    expect(real.metrics['host.elapsedNs']).toBeGreaterThanOrEqual(3_038_418_501);
    expect(fast.metrics['host.elapsedNs']).toBeLessThan(real.metrics['host.elapsedNs']);
    expect(fast.metrics['host.write.latencyNs.mean']).toBeGreaterThan(real.metrics['host.write.latencyNs.mean']);
  });

  test.each(['wrap', 'compact', 'scale'])('--address %s brings a large trace onto a small drive', async (policy) => {
    const path = `${folder()}/big.txt`;
    writeFileSync(
      path,
      Array.from({ length: 500 }, (_, i) => `${i} 0 ${(i * 9973) % 99_991}000 8 ${i % 2}`).join('\n'),
    );
    const { code, out } = await cli(`replay ${path} ${small} --address ${policy}`);
    expect(code).toBe(0);
    expect(out).toContain('500 issued = 500 completed + 0 failed.');
    expect((await cli(`replay ${path} ${small}`)).code).toBe(2);
  });

  test('--set and --over-provisioning change the drive', async () => {
    const spec = async (more: string): Promise<ExperimentResult['spec']> =>
      (JSON.parse((await cli(`replay ${postgres} ${small} --json ${more}`)).out) as ExperimentResult).spec;
    const plain = await spec('');
    const changed = await spec('--set ftl.victim=fifo --set nand.timing.eraseNs=5000000 --over-provisioning 25%');
    expect(changed.device.ftl.victim).toBe('fifo');
    expect(changed.device.nand.timing.eraseNs).toBe(5_000_000);
    const raw = ({ nand: { geometry } }: typeof plain.device): number =>
      geometry.blocksPerPlane *
      geometry.pagesPerBlock *
      geometry.planes *
      geometry.dies *
      geometry.ways *
      geometry.channels;
    expect(raw(changed.device)).toBeGreaterThan(raw(plain.device));
  });

  test('lines that were skipped are told', async () => {
    const path = `${folder()}/t.csv`;
    const line = '128166372003061629,web,0,Read,8192,4096,41286';
    writeFileSync(path, `${line}\nrubbish\n${line}\n`);
    const { code, err } = await cli(`replay ${path} ${small} --format msr --skip-bad-lines`);
    expect(code).toBe(0);
    expect(err).toContain('! 1 line skipped; the first:');
  });

  test('Ctrl-C: what there is comes back, marked as partial, with exit code 130', async () => {
    const at = folder();
    const host = new FakeHost({ env: { LANG: 'C' }, terminal: true });
    host.onErr = (text) => {
      if (text.includes('replay')) host.interrupt();
    };
    const outcome = await cli(`replay ${postgres} ${small} --repeat 100000 --out ${at} --color never`, host);
    expect(outcome.code).toBe(130);
    expect(outcome.out).toContain('! interrupted at');
    expect(readdirSync(at).sort()).toEqual(['postgres.partial.html', 'postgres.partial.json']);
    expect(readFileSync(`${at}/postgres.partial.html`, 'utf8')).toMatch(/partial|[Ii]nterrupted/);
    const result = JSON.parse(readFileSync(`${at}/postgres.partial.json`, 'utf8')) as ExperimentResult;
    expect(result.partial?.of).toBe(198_700_000);
    expect(result.partial?.requests).toBe(result.metrics['host.completed']);
    expect(result.metrics['host.issued']).toBe(result.metrics['host.completed']);
  });

  test('Ctrl-C while the trace is read: nothing to keep', async () => {
    const at = folder();
    const host = new FakeHost({ terminal: true });
    host.onErr = (text) => {
      if (text.includes('read')) host.interrupt();
    };
    const outcome = await cli(`replay ${postgres} ${small} --out ${at}`, host);
    expect(outcome.code).toBe(130);
    expect(outcome.out).toBe('');
    expect(outcome.err).toContain('interrupted before anything was simulated');
    expect(readdirSync(at)).toEqual([]);
  });

  test('a folder that cannot be written is a failure of the machine', async () => {
    const at = folder();
    writeFileSync(`${at}/x`, '');
    const { code, err } = await cli(`replay ${postgres} ${small} --out ${at}/x/y`);
    expect(code).toBe(3);
    expect(err.replace(/\s+/g, ' ')).toContain('a part of the path is a file, not a folder');
    expect(readdirSync(at)).toEqual(['x']);
  });
});
