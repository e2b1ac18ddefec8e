import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { BlockOp } from '@flashstack/block-device';
import { RandomSource } from '@flashstack/sim';
import { afterAll, describe, expect, test } from 'vitest';
import { Operation, TraceEncoder, type TraceFormat, traceFormats } from '../src/index.js';
import { openTrace } from '../src/node/index.js';

// fio must replay the logs we write, and we must read the logs it writes while it does.
const tool = '/usr/bin/fio';
const missing = !existsSync(tool);
if (missing) {
  const message = `${tool} is missing (Debian package fio): nothing confirms the iologs we write`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

const iolog = traceFormats.find((format) => format.name === 'fio-iolog') as TraceFormat;

interface FioJob {
  read: { total_ios: number; io_bytes: number };
  write: { total_ios: number; io_bytes: number };
}

describe.skipIf(missing)('fio', () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-fio-`);
  afterAll(() => rmSync(folder, { recursive: true }));

  function run(...options: string[]): FioJob {
    const text = execFileSync(tool, ['--name=replay', '--output-format=json', ...options], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { jobs } = JSON.parse(text.slice(text.indexOf('{'))) as { jobs: FioJob[] };
    return jobs[0];
  }

  test.each([2, 3] as const)('replays what we write, version %s', async (iologVersion) => {
    const random = new RandomSource(4).stream('test');
    const encoder = new TraceEncoder(iolog, { iologVersion, losses: 'fail' });
    const operation = new Operation();
    const expected = { read: [0, 0], write: [0, 0] };
    for (let i = 0; i < 1000; i++) {
      const kind = (['read', 'write', 'trim', 'sync'] as const)[random.below(4)];
      operation.op = { read: BlockOp.read, write: BlockOp.write, trim: BlockOp.discard, sync: BlockOp.flush }[kind];
      operation.offsetBytes = kind === 'sync' ? 0 : random.below(1000) * 4096;
      operation.lengthBytes = kind === 'sync' ? 0 : 4096 * (1 + random.below(16));
      operation.timeNs = iologVersion === 3 ? i * 1000 : 0;
      encoder.add(operation);
      if (kind === 'read' || kind === 'write') {
        expected[kind][0]++;
        expected[kind][1] += operation.lengthBytes;
      }
    }
    encoder.end();
    writeFileSync(`${folder}/ours.${iologVersion}.iolog`, encoder.take());
    writeFileSync(`${folder}/dev0`, new Uint8Array(1 << 23));
    const job = run(`--read_iolog=ours.${iologVersion}.iolog`, '--ioengine=null', '--replay_no_stall=1', '--size=8m');
    // fio 3.33 replays trims of a log without counting them.
    for (const kind of ['read', 'write'] as const) {
      expect([job[kind].total_ios, job[kind].io_bytes], kind).toEqual(expected[kind]);
    }
  });

  test('writes logs that we read: counts and bytes are those it reports', async () => {
    const job = run(
      '--write_iolog=theirs.iolog',
      '--ioengine=null',
      '--size=16m',
      '--rw=randrw',
      '--bssplit=4k/50:16k/50',
      '--fsync=8',
      '--randseed=5',
    );
    expect(readFileSync(`${folder}/theirs.iolog`, 'utf8').startsWith('fio version 3 iolog\n')).toBe(true);
    const { trace } = await openTrace(`${folder}/theirs.iolog`);
    for (const kind of ['read', 'write'] as const) {
      const { requests, bytes } = trace.totals(BlockOp[kind]);
      expect([requests, bytes], kind).toEqual([job[kind].total_ios, job[kind].io_bytes]);
    }
    expect(trace.totals(BlockOp.flush).requests).toBeGreaterThan(10);
  });
});
