import { attributeTests } from './attribute-tests.js';
import { contentTests } from './content-tests.js';
import { creationTests } from './creation-tests.js';
import { cutEverywhere } from './cut-tests.js';
import { directoryTests } from './directory-tests.js';
import { extendedAttributeTests } from './extended-attribute-tests.js';
import { failEverywhere } from './fault-tests.js';
import { type ConformanceTest, check, type FileSystemUnderTest, Tester } from './harness.js';
import { interleave } from './interleaving-tests.js';
import { linkTests } from './link-tests.js';
import { crowd, nest, type Outcomes } from './nested-tests.js';
import { openTests } from './open-tests.js';
import { pathTests } from './path-tests.js';
import { permissionTests } from './permission-tests.js';
import { randomFile } from './random-file.js';
import { rangeTests } from './range-tests.js';
import { renameTests } from './rename-tests.js';
import { fillWithFiles, fillWithOneFile, withFreeBlocks } from './space-tests.js';

/** What the suite needs to know and do. */
export interface ConformanceOptions {
  /** Registers a test, such as `it` of vitest or `test` of Node. */
  readonly test: (name: string, body: () => void) => unknown;
  readonly subject: FileSystemUnderTest;
  /** How many times as many random cases as usual. Default 1, which takes seconds. */
  readonly depth?: number;
  /** Random interleavings of several programs. Default 250 times `depth`. */
  readonly interleavings?: number;
}

/** Random cases in one test. */
const BATCH = 2500;
/** Space of the file systems that are filled up, bytes. */
const SMALL_BYTES = 2 * 2 ** 20;

const all: readonly ConformanceTest[] = [
  ...pathTests,
  ...openTests,
  ...creationTests,
  ...linkTests,
  ...renameTests,
  ...permissionTests,
  ...attributeTests,
  ...contentTests,
  ...rangeTests,
  ...directoryTests,
  ...extendedAttributeTests,
];

/**
 * Registers the tests of POSIX semantics that every file system under a host must pass, driven by what it offers. Each runs
 * on a new file system and fails by throwing an error that says what was expected.
 */
export function fileSystemConformance(options: ConformanceOptions): void {
  const { test, subject } = options;
  for (const { name, needs, body } of all) {
    const lacking = needs === undefined || needs.has(subject.capabilities) ? undefined : needs;
    test(lacking === undefined ? name : `${name} (not offered, so refused)`, () => {
      const t = new Tester(subject);
      t.run(lacking === undefined ? body(t) : lacking.lacking(t));
      t.run(t.unmount());
    });
  }
  randomTests(options);
  nestedTests(options);
  spaceTests(options);
  if (subject.format !== undefined) deviceTests(options);
}

function randomTests({ test, subject, depth = 1, interleavings = 250 * depth }: ConformanceOptions): void {
  for (const [first, last] of batches(interleavings)) {
    test(`interleaved programs see what some order of their operations explains, seeds ${first} to ${last}`, () => {
      for (let seed = first; seed <= last; seed++) interleave(subject, seed);
    });
  }
  test('random operations on a file give what they give on an array of bytes', () => {
    for (let seed = 1; seed <= 8 * depth; seed++) {
      const t = new Tester(subject);
      t.run(randomFile(t, seed, 250));
      t.run(t.unmount());
    }
  });
}

/** Directories that are moved into and out of each other while others walk through them, make and remove them. */
function nestedTests({ test, subject, depth = 1 }: ConformanceOptions): void {
  for (const [first, last] of batches(200 * depth)) {
    test(`nested directories: some order of all steps explains results and tree, seeds ${first} to ${last}`, () => {
      const outcomes: Outcomes = new Map();
      for (let seed = first; seed <= last; seed++) nest(subject, seed, 5, outcomes);
      if (last - first < 199) return;
      for (const outcome of ['ok', 'EINVAL', 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EISDIR']) {
        check(outcomes.has(`rename ${outcome}`), `none of the renames has ended with ${outcome}`);
      }
    });
  }
  for (const [first, last] of batches(20 * depth)) {
    test(`nested directories: of many programs a tree remains and nothing beside it, seeds ${first} to ${last}`, () => {
      for (let seed = first; seed <= last; seed++) crowd(subject, seed, 6, 40);
    });
  }
}

/** First and last number of each batch of cases. */
function* batches(cases: number): Generator<[number, number], void> {
  for (let first = 1; first <= cases; first += BATCH) yield [first, Math.min(first + BATCH - 1, cases)];
}

function spaceTests({ test, subject }: ConformanceOptions): void {
  const fillers = { 'one file': fillWithOneFile, 'many files': fillWithFiles };
  for (const [name, body] of Object.entries(fillers)) {
    test(`space: ${name} can fill it up, nothing acknowledged is lost, and all of it comes back`, () => {
      const t = new Tester(subject, SMALL_BYTES);
      t.run(body(t));
      t.run(t.unmount());
    });
  }
  test('space: with any number of free blocks, operations succeed or are refused without effect', () => {
    for (let blocks = 0, enough = false; !enough; blocks++) {
      const t = new Tester(subject, SMALL_BYTES);
      enough = t.run(withFreeBlocks(t, blocks));
      t.run(t.unmount());
      check(blocks < 200, '200 free blocks are enough');
    }
  });
}

function deviceTests({ test, subject, depth = 1 }: ConformanceOptions): void {
  for (const once of [true, false]) {
    test(`faults: each request of the device fails in turn, ${once ? 'once' : 'and all after it'}`, () => {
      const failed = failEverywhere(subject, once);
      check(failed > 20, `only ${failed} requests could fail`);
    });
  }
  if (!subject.capabilities.durable) return;
  test('power cuts: at each flush, what was made durable is there, and all of it works', () => {
    let images = 0;
    for (let seed = 1; seed <= 2 * depth; seed++) images += cutEverywhere(subject, seed, 8, 3);
    check(images > 100 * depth, `only ${images} images`);
  });
}
