import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  InstantScheduler,
  type NandArray,
  NandClass,
  type NandRule,
  NandRuleError,
  NandStatus,
  TimelineScheduler,
  type TransactionScheduler,
} from '../src/index.js';
import { arrayOf, type Changes, fill, Simulator, vectorConfig } from './support.js';

const { userRead, userWrite, gcErase, gcWrite } = NandClass;
const PAGES = 16;
const planar: Changes = { geometry: { planes: 2 } };
const copyback: Changes = {
  geometry: { planes: 2 },
  features: { copyback: true, copybackParity: true, maxCopybacks: 1 },
};

/** Each rule: the device, a legal preparation, and the command that breaks it. */
const rules: [NandRule, string, Changes, (array: NandArray) => void, (s: TransactionScheduler) => unknown][] = [
  ['address', 'a page beyond the device', {}, () => undefined, (s) => s.read(1e6, 1, userRead, 0)],
  ['address', 'a negative page', {}, () => undefined, (s) => s.program(-1, userWrite, 0)],
  ['address', 'a block beyond the device', {}, () => undefined, (s) => s.erase(16, gcErase, 0)],
  ['slot-mask', 'no slots', {}, (a) => fill(a, 0, 1), (s) => s.read(0, 0, userRead, 0)],
  ['slot-mask', 'slots that a page does not have', {}, (a) => fill(a, 0, 1), (s) => s.read(0, 2, userRead, 0)],
  ['page-order', 'a skipped page', {}, (a) => fill(a, 0, 1), (s) => s.program(2, userWrite, 0)],
  ['page-programmed', 'a programmed page', {}, (a) => fill(a, 0, 2), (s) => s.program(1, userWrite, 0)],
  [
    'partial-programs',
    'more partial programs than NOP',
    { features: { nop: 2 } },
    (a) => {
      fill(a, 0, 1);
      a.program(0);
    },
    (s) => s.program(0, userWrite, 0),
  ],
  ['block-bad', 'a program of a retired block', {}, (a) => a.markBad(0), (s) => s.program(0, userWrite, 0)],
  ['block-bad', 'an erase of a retired block', {}, (a) => a.markBad(0), (s) => s.erase(0, gcErase, 0)],
  ['block-garbage', 'a program after a torn erase', {}, (a) => a.tearErase(0), (s) => s.program(0, userWrite, 0)],
  [
    'plane-count',
    'more planes than a die has',
    planar,
    () => undefined,
    (s) => s.programPlanes(Int32Array.of(0, 128, 256), 3, userWrite, 0),
  ],
  [
    'plane-count',
    'a part without multi-plane commands',
    { ...planar, features: { multiPlane: false } },
    () => undefined,
    (s) => s.programPlanes(Int32Array.of(0, 128), 2, userWrite, 0),
  ],
  [
    'plane-distinct',
    'the same plane twice',
    planar,
    () => undefined,
    (s) => s.programPlanes(Int32Array.of(0, 16), 2, userWrite, 0),
  ],
  ['plane-die', 'two dies', planar, () => undefined, (s) => s.programPlanes(Int32Array.of(0, 384), 2, userWrite, 0)],
  [
    'plane-page',
    'two page indices',
    planar,
    (a) => fill(a, 0, 1),
    (s) => s.programPlanes(Int32Array.of(1, 128), 2, userWrite, 0),
  ],
  [
    'plane-block',
    'two block indices under mpSameBlock',
    { ...planar, features: { mpSameBlock: true } },
    () => undefined,
    (s) => s.programPlanes(Int32Array.of(0, 144), 2, userWrite, 0),
  ],
  [
    'plane-page',
    'two page indices of a read',
    planar,
    (a) => {
      fill(a, 0, 2);
      fill(a, 8, 2);
    },
    (s) => s.readPlanes(Int32Array.of(0, 129), 2, userRead, 0),
  ],
  [
    'plane-distinct',
    'the same plane twice in an erase',
    planar,
    () => undefined,
    (s) => s.erasePlanes(Int32Array.of(0, 1), 2, gcErase, 0),
  ],
  ['copyback', 'a part without copyback', {}, (a) => fill(a, 0, 1), (s) => s.copyback(0, PAGES, gcWrite, 0)],
  ['copyback-plane', 'another plane', copyback, (a) => fill(a, 0, 1), (s) => s.copyback(0, 128, gcWrite, 0)],
  ['copyback-parity', 'odd to even', copyback, (a) => fill(a, 0, 2), (s) => s.copyback(1, PAGES, gcWrite, 0)],
  ['copyback-source', 'an erased source', copyback, () => undefined, (s) => s.copyback(0, PAGES, gcWrite, 0)],
  [
    'copyback-count',
    'one copyback too many',
    copyback,
    (a) => {
      fill(a, 0, 1);
      a.copyback(0, PAGES);
    },
    (s) => s.copyback(PAGES, 2 * PAGES, gcWrite, 0),
  ],
  ['cache', 'a cache program without the register', {}, () => undefined, (s) => s.programCache(0, userWrite, 0)],
  [
    'cache',
    'a cache read run without the register',
    {},
    (a) => fill(a, 0, 2),
    (s) => {
      s.readCache(Int32Array.of(0, 1), 2, userRead, 0, new Int32Array(2));
    },
  ],
  [
    'cache',
    'a run over two planes',
    { ...planar, features: { cacheRegister: true } },
    (a) => {
      fill(a, 0, 1);
      fill(a, 8, 1);
    },
    (s) => {
      s.readCache(Int32Array.of(0, 128), 2, userRead, 0, new Int32Array(2));
    },
  ],
  ['token', 'a token that is not in use', {}, (a) => fill(a, 0, 1), (s) => s.read(0, 1, userRead, 77)],
];

/** Everything a broken rule must leave alone. */
function snapshot(array: NandArray): string {
  const columns = [
    array.nextPage,
    array.eraseCount,
    array.readCount,
    array.bad,
    array.garbage,
    array.lpn,
    array.copybacks ?? [],
  ];
  return JSON.stringify(columns.map((column) => [...column]));
}

const makers: [string, (array: NandArray, simulator: Simulator) => TransactionScheduler][] = [
  ['timeline', (array, simulator) => new TimelineScheduler(array, simulator)],
  ['event', (array, simulator) => createEventScheduler(array, simulator)],
];

describe.each(makers)('rules on %s', (_name, make) => {
  it.each(rules)('%s: %s', (rule, _what, changes, prepare, breakIt) => {
    const simulator = new Simulator();
    const scheduler = make(arrayOf(vectorConfig(changes)), simulator);
    prepare(scheduler.array);
    const before = snapshot(scheduler.array);
    expect(() => breakIt(scheduler)).toThrowError(NandRuleError);
    expect(() => breakIt(scheduler)).toThrowError(
      expect.objectContaining({ rule, code: `ERR_NAND_${rule.toUpperCase().replaceAll('-', '_')}` }),
    );
    expect(snapshot(scheduler.array)).toBe(before);
    simulator.drain();
    expect(simulator.now).toBe(0);
  });

  it('block-erasing: a block is programmed and erased again only when its erase is done', () => {
    const simulator = new Simulator();
    const scheduler = make(arrayOf(vectorConfig()), simulator);
    fill(scheduler.array, 0, 3);
    scheduler.drop(scheduler.erase(0, gcErase, 0));
    simulator.runUntil(3_000_199);
    expect(() => scheduler.program(0, userWrite, 0)).toThrowError(expect.objectContaining({ rule: 'block-erasing' }));
    expect(() => scheduler.erase(0, gcErase, 0)).toThrowError(expect.objectContaining({ rule: 'block-erasing' }));
    simulator.runUntil(3_000_200);
    expect(() => scheduler.program(0, userWrite, 0)).not.toThrow();
  });

  it('read-unfinished: a page is not read while it is being programmed, unless the read waits for it', () => {
    const simulator = new Simulator();
    const scheduler = make(arrayOf(vectorConfig()), simulator);
    const first = scheduler.program(0, userWrite, 0);
    expect(scheduler.isProgramming(0)).toBe(true);
    expect(() => scheduler.read(0, 1, userRead, 0)).toThrowError(expect.objectContaining({ rule: 'read-unfinished' }));
    const read = scheduler.read(0, 1, userRead, first);
    expect(scheduler.status[read]).toBe(NandStatus.ok);
    scheduler.drop(read);
    simulator.runUntil(610_439);
    expect(scheduler.isProgramming(0)).toBe(true);
    simulator.runUntil(610_440);
    expect(scheduler.isProgramming(0)).toBe(false);
    expect(() => scheduler.read(0, 1, userRead, 0)).not.toThrow();
  });

  it('token: each is used once', () => {
    const simulator = new Simulator();
    const scheduler = make(arrayOf(vectorConfig()), simulator);
    fill(scheduler.array, 0, 1);
    const token = scheduler.read(0, 1, userRead, 0);
    const client = { nandDone: () => undefined };
    scheduler.then(token, client, 0);
    for (const use of [
      () => {
        scheduler.then(token, client, 0);
      },
      () => {
        scheduler.drop(token);
      },
      () => scheduler.join(token, 0),
      () => scheduler.read(0, 1, userRead, token),
    ]) {
      expect(use).toThrowError(expect.objectContaining({ rule: 'token' }));
    }
  });

  it('an erased page reads as erased', () => {
    const scheduler = make(arrayOf(vectorConfig()), new Simulator());
    expect(scheduler.status[scheduler.read(5, 1, userRead, 0)]).toBe(NandStatus.erased);
  });
});

describe('parts with other rules', () => {
  it('any order on parts with randomPageProgram, NOP programs of each page', () => {
    const array = arrayOf(vectorConfig({ features: { randomPageProgram: true, nop: 4 } }));
    for (const page of [5, 3, 3, 3, 3, 15, 0]) expect(array.program(page)).toBe(NandStatus.ok);
    expect(() => array.program(3)).toThrowError(expect.objectContaining({ rule: 'partial-programs' }));
    expect(array.read(4, 1)).toBe(NandStatus.erased);
    expect(array.read(5, 1)).toBe(NandStatus.ok);
    array.erase(0);
    expect(array.read(5, 1)).toBe(NandStatus.erased);
    expect(array.program(3)).toBe(NandStatus.ok);
  });

  it('a copyback takes the spare area along and counts', () => {
    const array = arrayOf(vectorConfig({ features: { copyback: true, maxCopybacks: 2 } }));
    fill(array, 0, 1);
    array.lpn[0] = 42;
    array.origin[0] = 7;
    (array.word as Uint32Array)[0] = 99;
    (array.seq as Float64Array)[0] = 1234;
    array.copyback(0, PAGES);
    expect([
      array.lpn[PAGES],
      array.origin[PAGES],
      array.word?.[PAGES],
      array.seq?.[PAGES],
      array.moves?.[PAGES],
    ]).toEqual([42, 7, 99, 1234, 1]);
    expect(array.copybacks?.[PAGES]).toBe(1);
    array.copyback(PAGES, 2 * PAGES);
    expect(array.copybacks?.[2 * PAGES]).toBe(2);
    fill(array, 3, 1);
    expect(array.copybacks?.[3 * PAGES]).toBe(0);
  });
});

describe('InstantScheduler', () => {
  it('finishes at once, but calls clients only from deliver', () => {
    const scheduler = new InstantScheduler(arrayOf(vectorConfig()));
    const done: number[] = [];
    const client = {
      nandDone: (_token: number, arg: number, status: number) => {
        done.push(arg, status);
        if (arg === 1) scheduler.then(scheduler.read(9, 1, userRead, 0), client, 2);
      },
    };
    scheduler.then(scheduler.program(0, userWrite, 0), client, 0);
    scheduler.then(scheduler.join(scheduler.read(0, 1, userRead, 0), scheduler.fence()), client, 1);
    scheduler.then(0, client, 3);
    expect(done).toEqual([]);
    expect(scheduler.deliver()).toBe(4);
    expect(done).toEqual([0, 0, 1, 0, 3, 0, 2, NandStatus.erased]);
    expect(scheduler.deliver()).toBe(0);
    expect(scheduler.isProgramming(0)).toBe(false);
    expect(() => scheduler.program(0, userWrite, 0)).toThrowError(expect.objectContaining({ rule: 'page-programmed' }));
  });

  it('grows its queue of completions in order', () => {
    const scheduler = new InstantScheduler(arrayOf(vectorConfig({ geometry: { blocksPerPlane: 64 } })));
    const done: number[] = [];
    const client = {
      nandDone: (_token: number, arg: number) => {
        done.push(arg);
      },
    };
    for (let i = 0; i < 100; i++) scheduler.then(scheduler.program(i, userWrite, 0), client, i);
    scheduler.deliver();
    for (let i = 100; i < 900; i++) scheduler.then(scheduler.program(i, userWrite, 0), client, i);
    scheduler.deliver();
    expect(done).toEqual([...Array(900).keys()]);
  });
});
