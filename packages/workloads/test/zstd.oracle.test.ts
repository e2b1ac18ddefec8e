import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { RandomSource } from '@flashstack/sim';
import { afterAll, describe, expect, test } from 'vitest';
import { readTrace } from '../src/index.js';
import { convertFile, openTrace } from '../src/node/index.js';

// The zstd program must read what we pack, and we must read whatever it packs.
const tool = '/usr/bin/zstd';
const missing = !existsSync(tool);
if (missing) {
  const message = `${tool} is missing (Debian package zstd): nothing confirms the packed traces`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

describe.skipIf(missing)('zstd', () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-zstd-`);
  afterAll(() => rmSync(folder, { recursive: true }));
  const random = new RandomSource(6).stream('test');
  let text = '';
  for (let i = 0; i < 60_000; i++)
    text += `${i * 1000} 0 ${random.below(1e6)} ${8 * (1 + random.below(4))} ${random.below(2)}\n`;
  writeFileSync(`${folder}/plain.mqsim.txt`, text);

  test.each([
    ['-1'],
    ['-3', '--no-check'],
    ['-9'],
    ['-19'],
    ['--ultra', '-20', '--long=27'],
    ['--fast=5'],
    ['-3', '--content-size'],
    ['-3', '--no-content-size'],
    ['-3', '-B16384', '--rsyncable', '-T2'],
  ])('reads what it packs: %s %s %s', async (...options) => {
    const packed = `${folder}/packed.zst`;
    execFileSync(tool, ['-q', '-f', ...options, `${folder}/plain.mqsim.txt`, '-o', packed]);
    const { trace } = await openTrace(packed, { format: 'mqsim' });
    const plain = (await openTrace(`${folder}/plain.mqsim.txt`)).trace;
    expect(Array.from(trace.offsetsBytes)).toEqual(Array.from(plain.offsetsBytes));
    expect(Array.from(trace.lengthsBytes)).toEqual(Array.from(plain.lengthsBytes));
  });

  test('reads frames one after another, skippable ones too, in pieces of any size', async () => {
    const one = execFileSync(tool, ['-q', '-c'], { input: '1000 0 8 8 1\n' });
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 1, 2, 3, 4, 5]);
    const stream = Buffer.concat([skippable, one, skippable, one, one, skippable]);
    for (const piece of [1, 2, 7, 1000]) {
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < stream.length; at += piece) yield stream.subarray(at, at + piece);
      }
      expect((await readTrace(pieces(), 'x')).trace.length).toBe(3);
    }
  });

  test('it reads what we pack', async () => {
    const packed = `${folder}/ours.mqsim.txt.zst`;
    await convertFile(`${folder}/plain.mqsim.txt`, packed);
    expect(readFileSync(packed).length).toBeLessThan(text.length / 2);
    expect(execFileSync(tool, ['-q', '-d', '-c', packed], { maxBuffer: 1 << 26 }).toString()).toBe(text);
  });
});
