import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, test } from 'vitest';
import { recordStack } from './recorded-stack.js';

// The tools that people look at block traces with must take those of simulated runs.
const tools = { blkparse: '/usr/bin/blkparse', btt: '/usr/bin/btt', iowatcher: '/usr/bin/iowatcher' };

function isMissing(tool: keyof typeof tools, what: string): boolean {
  if (existsSync(tools[tool])) return false;
  const message = `${tools[tool]} is missing (Debian package blktrace): ${what}`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
  return true;
}

const folder = mkdtempSync(`${tmpdir()}/flashstack-recorded-`);
afterAll(() => rmSync(folder, { recursive: true }));

/** Records a run and keeps it as a file; its name without the ending. */
function fileOf(name: string, maxRequestBytes: number): string {
  writeFileSync(`${folder}/${name}.blktrace.0`, recordStack('blktrace', maxRequestBytes).bytes);
  return name;
}

function run(tool: keyof typeof tools, ...args: string[]): string {
  return execFileSync(tools[tool], args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26, stdio: 'pipe' });
}

const CUT_BYTES = 131_072;
const UNCUT_BYTES = 2 ** 24;

test.skipIf(isMissing('blkparse', 'nothing confirms the text of recorded runs'))(
  'blkparse prints of the binary records what we write as text',
  () => {
    const theirs = run('blkparse', '-q', '-i', fileOf('cut', CUT_BYTES)).split('\n');
    const ours = new TextDecoder().decode(recordStack('blkparse', CUT_BYTES).bytes).split('\n');
    expect(theirs.filter((line) => !/^Input file .* added$/.test(line))).toEqual(ours);
    expect(ours.length).toBeGreaterThan(5000);
    const letters = new Set(ours.slice(0, -1).map((line) => line.trim().split(/\s+/)[5]));
    expect([...letters].sort()).toEqual(['C', 'D', 'G', 'I', 'M', 'P', 'Q', 'U', 'X', 'm']);
  },
);

interface Span {
  readonly sectors: number;
  readonly queuedNs: number;
  issuedNs: number;
}

/**
 * Times as btt means them: of each request with data that was queued and then came to lie within one that completed. It
 * forgets one that begins where another begins that is not done.
 */
function spans(text: string): { readonly q2c: readonly number[]; readonly d2c: readonly number[] } {
  const open = new Map<number, Span>();
  const q2c: number[] = [];
  const d2c: number[] = [];
  for (const line of text.split('\n')) {
    const [, , , time, , letter, , start, plus, length] = line.trim().split(/\s+/);
    if (plus !== '+') continue;
    const nowNs = Number(time.replace('.', ''));
    const first = Number(start);
    if (letter === 'Q' && !open.has(first)) {
      open.set(first, { sectors: Number(length), queuedNs: nowNs, issuedNs: -1 });
    }
    if (letter !== 'D' && letter !== 'C') continue;
    for (const [sector, span] of open) {
      if (sector < first || sector + span.sectors > first + Number(length)) continue;
      if (letter === 'D') {
        span.issuedNs = nowNs;
        continue;
      }
      q2c.push(nowNs - span.queuedNs);
      if (span.issuedNs >= 0) d2c.push(nowNs - span.issuedNs);
      open.delete(sector);
    }
  }
  return { q2c, d2c };
}

test.skipIf(isMissing('btt', 'nothing confirms the times of recorded runs'))(
  'btt counts the requests and times them as they were',
  () => {
    const report = run('btt', '-i', `${fileOf('uncut', UNCUT_BYTES)}.blktrace.0`);
    const recording = recordStack('blkparse', UNCUT_BYTES);
    const { q2c, d2c } = spans(new TextDecoder().decode(recording.bytes));
    for (const [name, times] of Object.entries({ Q2C: q2c, D2C: d2c })) {
      const row = new RegExp(`^${name} +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9]+)$`, 'm').exec(report);
      if (row === null) throw new Error(`btt prints no ${name}:\n${report}`);
      const [least, mean, most, count] = row.slice(1).map(Number);
      expect(count, name).toBe(times.length);
      expect(least, name).toBeCloseTo(Math.min(...times) / 1e9, 9);
      expect(most, name).toBeCloseTo(Math.max(...times) / 1e9, 9);
      expect(Math.abs(mean - times.reduce((sum, time) => sum + time, 0) / times.length / 1e9), name).toBeLessThan(2e-9);
    }
    expect(recording.stats.splits).toBe(0);
    const merged = /^Q2M .* ([0-9]+)$/m.exec(report);
    expect(Number(merged?.[1])).toBe(recording.stats.merged);
    expect(recording.stats.merged).toBeGreaterThan(20);
  },
);

describe.skipIf(isMissing('iowatcher', 'nothing confirms that recorded runs can be drawn'))('iowatcher', () => {
  test('draws a recorded run', () => {
    run('iowatcher', '-t', `${fileOf('drawn', CUT_BYTES)}.blktrace.0`, '-o', 'drawn.svg');
    const picture = readFileSync(`${folder}/drawn.svg`, 'utf8');
    // Reads and writes at their places, throughput, latency and depth.
    expect((picture.match(/<circle|<rect|<path/g) ?? []).length).toBeGreaterThan(1000);
    for (const title of ['Device IO', 'Throughput', 'Latency', 'Queue Depth']) expect(picture).toContain(title);
  });
});
