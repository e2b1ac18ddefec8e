import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { fixtureUrl } from '@flashstack/fixtures';
import { RandomSource, type RandomStream } from '@flashstack/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeTree, parseListing, StraceReader, SystemReplay, TraceError } from '../src/index.js';
import { memoryHost } from './memory-host.js';

const full = process.env.CI !== undefined;
const numRuns = process.env.FLASHSTACK_LONG !== undefined ? 1000 : full ? 100 : 15;
const unpacked = (name: string): string => gunzipSync(readFileSync(fixtureUrl(name))).toString('latin1');
// What happens below the root: half of the lines of these are about libraries.
const lines = ['copy-remove', 'gcc-build', 'fio-fsync']
  .flatMap((name) => unpacked(`${name}.strace.gz`).split('\n'))
  .filter((line) => !/"\/(?:lib|usr|etc|proc|sys)\//.test(line));
const listing = parseListing(unpacked('gcc-build.initial.ls.gz'));

/** A run of lines with some bytes changed, lines cut, doubled or left out. */
function damaged(random: RandomStream): string {
  const from = random.below(lines.length);
  const text: string[] = [];
  for (let i = from; i < Math.min(lines.length, from + 300); i++) {
    let line = lines[i];
    const kind = random.below(20);
    const at = random.below(line.length + 1);
    if (kind === 0) continue;
    if (kind === 1) text.push(line);
    if (kind === 2) line = line.slice(0, at);
    if (kind === 3) line = line.slice(at);
    if (kind < 8) line = line.slice(0, at) + String.fromCharCode(32 + random.below(95)) + line.slice(at + 1);
    if (kind === 8) line = line.replace(/\d+/g, (digits) => (random.below(3) === 0 ? '99999999999999999999' : digits));
    if (kind === 9) line = line.replace(/, /, '');
    text.push(line);
  }
  return text.join('\n');
}

test('damaged traces are read and replayed, or refused with a line; nothing else is thrown', () => {
  let replayed = 0;
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const text = damaged(new RandomSource(seed).stream('damage'));
      const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
      for (const badLines of ['fail', 'skip'] as const) {
        const reader = new StraceReader('damaged', { badLines });
        try {
          reader.push(bytes);
          const trace = reader.end();
          const host = memoryHost();
          host.run(makeTree(host.process().thread(), listing));
          const order = seed % 2 === 0 ? 'trace' : 'threads';
          const replay = new SystemReplay(host.simulator, host, trace, { root: '/mnt/bench', missing: 'make', order });
          replay.run();
          replayed++;
        } catch (error) {
          expect(error).toBeInstanceOf(TraceError);
          expect((error as Error).message).toMatch(/^damaged:/);
        }
      }
    }),
    { numRuns },
  );
  expect(replayed).toBeGreaterThan(numRuns / 2);
});
