import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import * as blockDevice from '@flashstack/block-device';
import * as codec from '@flashstack/codec';
import * as sim from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { engineBundle } from './engine-bundle.js';
import { filesBelow, members, root } from './workspace.js';

// The core needs nothing but the language: no process, Buffer, require, timers or TextEncoder.

test('a new context is bare', () => {
  expect(runInContext('typeof process + typeof Buffer + typeof TextEncoder', createContext({}))).toBe(
    'undefined'.repeat(3),
  );
});

/** A piece of work of one package. Its text is evaluated in the bare context too, so it may name nothing from outside. */
interface Workout<Subject> {
  readonly specifier: string;
  readonly subject: Subject;
  readonly work: (subject: Subject) => number;
  readonly expected: number;
}
const workout = <Subject>(
  specifier: string,
  subject: Subject,
  work: (subject: Subject) => number,
  expected: number,
): Workout<Subject> => ({ specifier, subject, work, expected });

const workouts = [
  workout(
    '@flashstack/sim',
    sim,
    ({ Delay, Simulator, runTask }) => {
      const simulator = new Simulator();
      function* body() {
        const delay = new Delay(simulator);
        for (let i = 1; i <= 10; i++) yield delay.for(i);
      }
      runTask(simulator, body());
      return simulator.now;
    },
    55,
  ),
  workout(
    '@flashstack/sim',
    sim,
    ({ captureState, restoreState }) => {
      const there = { label: '', columns: new Uint8Array(3) };
      restoreState(there, captureState({ label: 'µs', columns: Uint8Array.of(1, 2, 3) }));
      return there.label === 'µs' ? there.columns[2] : -1;
    },
    3,
  ),
  workout(
    '@flashstack/codec',
    codec,
    // Published check value of CRC-32C (RFC 3720, appendix B.4): 32 bytes of zeroes.
    ({ pureCodecs }) => pureCodecs().crc32c.checksum(new Uint8Array(32)),
    0x8a91_36aa,
  ),
  workout(
    '@flashstack/block-device',
    blockDevice,
    ({ BlockOp, IoBatch, MemoryDevice }) => {
      const device = new MemoryDevice({ blockCount: 8 });
      const batch = new IoBatch(device);
      const tags = new Uint32Array(1);
      batch.add(BlockOp.write, 3, 1).tags = new Uint32Array([7]);
      batch.add(BlockOp.read, 3, 1).tags = tags;
      batch.start();
      return tags[0];
    },
    7,
  ),
];

describe.each(workouts.map((entry) => [entry.specifier, entry as Workout<unknown>] as const))('%s', (_, entry) => {
  test('loads and works in a bare engine', async () => {
    const context = createContext({});
    runInContext(
      `'use strict'; ${await engineBundle(`export * from '${entry.specifier}';`)}; globalThis.subject = subject;`,
      context,
    );
    expect(runInContext(`(${entry.work.toString()})(subject)`, context)).toBe(entry.expected);
    expect(entry.work(entry.subject)).toBe(entry.expected);
  });
});

test('random numbers are the same in a bare engine', async () => {
  const draw = ({ RandomSource }: typeof sim): number[] => {
    const stream = new RandomSource(1).stream('x');
    return Array.from({ length: 100 }, () => stream.below(1 << 20));
  };
  const context = createContext({});
  runInContext(`${await engineBundle(`export * from '@flashstack/sim';`)}; globalThis.subject = subject;`, context);
  expect(JSON.parse(runInContext(`JSON.stringify((${draw.toString()})(subject))`, context))).toEqual(draw(sim));
});

const published = members().filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private);

test.each(published.map((member) => member.folder))(
  '%s takes neither time nor randomness nor anything else from the machine outside its node entry',
  (folder) => {
    const sources = filesBelow(`${folder}/src`, '.ts').filter((file) => !file.startsWith(`${folder}/src/node/`));
    expect(sources.length).toBeGreaterThan(2);
    const machine =
      /from 'node:|\bBuffer\.|\bDate\.|new Date\b|Math\.random|performance\.|\bprocess\.(?:env|argv|hrtime)/;
    expect(sources.filter((file) => machine.test(readFileSync(`${root}${file}`, 'utf8')))).toEqual([]);
  },
);
