import { type BlockFeatures, BlockFlag, BlockOp, BlockStatus } from '../index.js';
import { check, type Driver, firstDifference, pattern, tagBlock } from './harness.js';
import type { ConformanceTest } from './suite.js';

const READ = BlockOp.read;
const WRITE = BlockOp.write;

/** A test that only makes sense where contents are kept. */
function keeping(name: string, body: (driver: Driver, capabilities: BlockFeatures) => void): ConformanceTest {
  return {
    name,
    body(driver, capabilities) {
      if (capabilities.keeps === 'contents') body(driver, capabilities);
    },
  };
}

/** Three blocks of their own around which neighbours must stay. */
function surrounded(driver: Driver, action: () => void): void {
  const { bytes } = driver;
  const left = pattern(bytes, 101);
  const right = pattern(bytes, 102);
  driver.write(9, left);
  driver.write(10, pattern(3 * bytes, 103));
  driver.write(13, right);
  action();
  driver.expect(9, left, 'the block before');
  driver.expect(13, right, 'the block after');
}

export const contentsTests: readonly ConformanceTest[] = [
  {
    name: 'leaves read buffers alone if it keeps nothing',
    body(driver, capabilities) {
      if (capabilities.keeps === 'contents') return;
      driver.write(5, pattern(driver.bytes, 1));
      const untouched = new Uint8Array(driver.bytes).fill(0xa5);
      check(firstDifference(driver.read(5, 1), untouched) < 0, 'the buffer of a read is left alone');
    },
  },
  keeping('reads never-written blocks as zero', (driver) => {
    driver.expect(0, new Uint8Array(4 * driver.bytes), 'the first blocks of a fresh device');
    driver.expect(driver.device.blockCount - 1, new Uint8Array(driver.bytes), 'the last block of a fresh device');
    const tags = new Uint32Array(2).fill(77);
    const status = driver.run(READ, 20, 2, (r) => {
      r.tags = tags;
    });
    check(status === 0 && tags[0] === 0 && tags[1] === 0, 'never-written blocks have tag 0');
  }),
  keeping('reads back what was written: one block, many, the first and the last', (driver) => {
    const { bytes, device } = driver;
    const many = pattern(16 * bytes, 1);
    driver.write(0, pattern(bytes, 2));
    driver.write(device.blockCount - 1, pattern(bytes, 3));
    driver.write(17, many);
    driver.expect(0, pattern(bytes, 2), 'the first block');
    driver.expect(device.blockCount - 1, pattern(bytes, 3), 'the last block');
    driver.expect(17, many, 'sixteen blocks');
    driver.expect(20, many.subarray(3 * bytes, 5 * bytes), 'two of sixteen blocks');
    driver.expect(16, new Uint8Array(bytes), 'the block before sixteen');
    driver.expect(33, new Uint8Array(bytes), 'the block after sixteen');
  }),
  keeping('overwrites, with bytes and tags by turns', (driver) => {
    const { bytes } = driver;
    surrounded(driver, () => {
      for (let round = 0; round < 6; round++) {
        if (round % 2 === 0) driver.write(11, pattern(bytes, 200 + round));
        else driver.run(WRITE, 11, 1, (r) => Object.assign(r, { tags: new Uint32Array([0xdead_0000 + round]) }));
        const expected = round % 2 === 0 ? pattern(bytes, 200 + round) : tagBlock(bytes, 0xdead_0000 + round);
        driver.expect(11, expected, `round ${round}`);
      }
    });
  }),
  keeping('takes the contents of a write in submit: the buffer may change at once', (driver) => {
    const { bytes, device, simulator } = driver;
    const data = pattern(2 * bytes, 5);
    const tags = new Uint32Array([0x0102_0304]);
    const batch = driver.batch(() => {});
    batch.add(WRITE, 6, 2).data = data;
    batch.add(WRITE, 40, 1).tags = tags;
    batch.start();
    data.fill(0xee);
    tags.fill(0);
    simulator.drain();
    check(batch.inFlight === 0 && batch.status === 0, 'both writes succeed');
    driver.expect(6, pattern(2 * bytes, 5), 'data changed after submit');
    driver.expect(40, tagBlock(bytes, 0x0102_0304), 'tags changed after submit');
    check(device.blockCount > 40, 'at least 64 blocks');
  }),
  keeping('expands tags, and gives bytes back as a tag where one stands for them', (driver) => {
    const { bytes } = driver;
    const written = new Uint32Array([1, 0x0102_0304, 0, 0xffff_ffff, 0xabab_abab]);
    driver.run(WRITE, 30, 5, (r) => Object.assign(r, { tags: written.slice() }));
    for (const [at, tag] of written.entries()) driver.expect(30 + at, tagBlock(bytes, tag), `tag ${tag}`);
    driver.write(35, tagBlock(bytes, 0x8765_4321));
    driver.run(WRITE, 36, 1);
    const tags = new Uint32Array(7).fill(9);
    const status = driver.run(READ, 30, 7, (r) => Object.assign(r, { tags }));
    check(status === 0, `reading tags succeeds, status ${status}`);
    const expected = [...written, 0x8765_4321, 0];
    check(
      expected.every((tag, at) => tags[at] === tag),
      `tags are ${[...tags]}, expected ${expected}`,
    );
    driver.expect(36, new Uint8Array(bytes), 'a write without payload');
    driver.write(31, pattern(bytes, 1));
    const mixed = driver.run(READ, 30, 3, (r) => Object.assign(r, { tags: new Uint32Array(3) }));
    check(mixed === BlockStatus.notTagged, `reading tags of plain bytes has status notTagged, found ${mixed}`);
  }),
  keeping('of overlapping writes in flight, the one submitted last wins', (driver) => {
    const { bytes } = driver;
    const expected = new Uint8Array(5 * bytes);
    const batch = driver.batch((b) => {
      for (let at = 0; at < 16; at++) {
        const data = pattern(3 * bytes, 300 + at);
        expected.set(data, (at % 3) * bytes);
        b.add(WRITE, 20 + (at % 3), 3).data = data;
      }
    });
    check(batch.status === 0, 'all succeed');
    driver.expect(20, expected, 'after sixteen overlapping writes in flight at once');
  }),
  keeping('honours FUA, or refuses it and changes nothing', (driver, capabilities) => {
    const { bytes } = driver;
    driver.write(2, pattern(bytes, 1));
    const data = pattern(bytes, 2);
    const status = driver.run(WRITE, 2, 1, (r) => Object.assign(r, { data, flags: BlockFlag.fua }));
    const expected = capabilities.fua ? BlockStatus.ok : BlockStatus.notSupported;
    check(status === expected, `a FUA write has status ${expected}, found ${status}`);
    driver.expect(2, capabilities.fua ? data : pattern(bytes, 1), 'after a FUA write');
  }),
  keeping('discards, or refuses to and changes nothing', (driver, capabilities) => {
    const { bytes } = driver;
    surrounded(driver, () => {
      const before = pattern(3 * bytes, 103);
      const status = driver.run(BlockOp.discard, 10, 3);
      const expected = capabilities.discard ? BlockStatus.ok : BlockStatus.notSupported;
      check(status === expected, `a discard has status ${expected}, found ${status}`);
      for (let at = 0; at < 3; at++) {
        const found = driver.read(10 + at, 1);
        const old = firstDifference(found, before.subarray(at * bytes, (at + 1) * bytes)) < 0;
        const zero = firstDifference(found, new Uint8Array(bytes)) < 0;
        check(
          old || (capabilities.discard && zero),
          `block ${10 + at} reads as before${capabilities.discard ? ' or as zero' : ''}`,
        );
      }
    });
    driver.write(11, pattern(bytes, 7));
    driver.expect(11, pattern(bytes, 7), 'a write after a discard');
  }),
  keeping('writes zeroes over bytes and tags', (driver) => {
    const { bytes } = driver;
    surrounded(driver, () => {
      driver.run(WRITE, 12, 1, (r) => Object.assign(r, { tags: new Uint32Array([5]) }));
      check(driver.run(BlockOp.writeZeroes, 10, 3) === BlockStatus.ok, 'writing zeroes succeeds');
      driver.expect(10, new Uint8Array(3 * bytes), 'zeroed blocks');
    });
  }),
  keeping('agrees with a map of blocks under random operations', (driver, capabilities) =>
    randomOperations(driver, capabilities),
  ),
];

/** Random requests, in disjoint batches, against the simplest model there is. */
function randomOperations(driver: Driver, capabilities: BlockFeatures): void {
  const { bytes, device } = driver;
  const model = new Map<number, Uint8Array>();
  const blocks = Math.min(device.blockCount, 64);
  let seed = 12345;
  const below = (n: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % n;
  };
  for (let round = 0; round < 60; round++) {
    const reads: { block: number; data: Uint8Array }[] = [];
    const batch = driver.batch((b) => {
      for (let block = below(4); block < blocks - 8; block += 1 + below(8)) {
        const count = 1 + below(6);
        const kind = below(6);
        if (kind <= 1) {
          const data = new Uint8Array(count * bytes).fill(0x5a);
          reads.push({ block, data });
          b.add(READ, block, count).data = data;
        } else if (kind === 2) {
          const tags = Uint32Array.from({ length: count }, () => below(1 << 24));
          tags.forEach((tag, at) => {
            model.set(block + at, tagBlock(bytes, tag));
          });
          b.add(WRITE, block, count).tags = tags;
        } else if (kind === 3) {
          for (let at = 0; at < count; at++) model.delete(block + at);
          b.add(BlockOp.writeZeroes, block, count);
        } else {
          const data = pattern(count * bytes, seed);
          for (let at = 0; at < count; at++) model.set(block + at, data.slice(at * bytes, (at + 1) * bytes));
          b.add(WRITE, block, count).data = data;
        }
        block += count;
      }
    });
    check(batch.status === 0, `round ${round}: all succeed`);
    const zero = new Uint8Array(bytes);
    for (const { block, data } of reads) {
      for (let at = 0; at * bytes < data.length; at++) {
        const found = data.subarray(at * bytes, (at + 1) * bytes);
        const same = firstDifference(found, model.get(block + at) ?? zero) < 0;
        check(same, `round ${round}: block ${block + at} holds what was written last`);
      }
    }
    if (capabilities.volatileCache && round % 8 === 0) driver.run(BlockOp.flush, 0, 0);
  }
}
