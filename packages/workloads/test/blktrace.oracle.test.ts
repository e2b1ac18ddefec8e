import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { BlockFlag, BlockOp } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { RandomSource } from '@flashstack/sim';
import { afterAll, describe, expect, test } from 'vitest';
import { Operation, readTrace, type Trace, TraceEncoder, type TraceFormat, traceFormats } from '../src/index.js';
import { openTrace } from '../src/node/index.js';

// Debian's blkparse must read what we write, and print what we print.
const tool = '/usr/bin/blkparse';
const missing = !existsSync(tool);
if (missing) {
  const message = `${tool} is missing (Debian package blktrace): nothing confirms the binary block traces we write`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

const blktrace = traceFormats.find((format) => format.name === 'blktrace') as TraceFormat;

function expectEqual(a: Trace, b: Trace): void {
  for (const column of ['ops', 'offsetsBytes', 'lengthsBytes', 'timesNs', 'flags', 'flows'] as const) {
    expect(Array.from(a[column]), column).toEqual(Array.from(b[column]));
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

describe.skipIf(missing)('blkparse', () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-blkparse-`);
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What blkparse prints of a binary trace. */
  function parsed(bytes: Uint8Array, name: string): string {
    writeFileSync(`${folder}/${name}.blktrace.0`, bytes);
    return execFileSync(tool, ['-q', '-D', folder, '-i', name], { encoding: 'utf8', maxBuffer: 1 << 26 });
  }

  test.each(['Q', 'D'] as const)('reads what we write, action %s', async (action) => {
    const random = new RandomSource(3).stream('test');
    const encoder = new TraceEncoder(blktrace, { action, losses: 'fail' });
    const operation = new Operation();
    for (let i = 0; i < 2000; i++) {
      const op = [BlockOp.read, BlockOp.write, BlockOp.flush, BlockOp.discard][random.below(4)];
      const flush = op === BlockOp.flush;
      operation.op = op;
      operation.timeNs += random.below(2_000_000);
      operation.offsetBytes = flush ? 0 : random.below(2 ** 31) * 512;
      operation.lengthBytes = flush ? 0 : 512 * (1 + random.below(2048));
      operation.flow = 8 * 2 ** 20 + 16 * random.below(2);
      const own = op === BlockOp.write ? BlockFlag.fua | BlockFlag.preflush : BlockFlag.ahead;
      operation.flags = flush || op === BlockOp.discard ? 0 : random.below(64) & (own | BlockFlag.sync);
      encoder.add(operation);
    }
    encoder.end();
    const binary = encoder.take();
    const text = parsed(binary, `random-${action}`);
    const ours = (await readTrace(once(binary), 'binary', { action })).trace;
    const theirs = (await readTrace(once(new TextEncoder().encode(text)), 'text', { format: 'blkparse', action }))
      .trace;
    expect(ours.length).toBe(2000);
    expectEqual(theirs, ours);
  });

  test('prints of a recorded trace what the recorded text says', async () => {
    const binary = gunzipSync(readFileSync(fixtureUrl('f2fs-tar-extract.blktrace.gz')));
    const text = new TextEncoder().encode(parsed(binary, 'recorded'));
    const theirs = (await readTrace(once(text), 'text')).trace;
    expectEqual(theirs, (await openTrace(fixtureUrl('f2fs-tar-extract.blkparse.txt.gz'))).trace);
  });
});
