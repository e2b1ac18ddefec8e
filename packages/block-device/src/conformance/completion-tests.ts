import { BlockFlag, BlockOp, BlockRequest, BlockStatus, type IoOwner } from '../index.js';
import { check, checkThrows, type Driver, pattern } from './harness.js';
import type { ConformanceTest } from './suite.js';

const READ = BlockOp.read;
const WRITE = BlockOp.write;

/** Counts completions per cookie. */
class Counter implements IoOwner {
  readonly done: number[] = [];
  total = 0;
  ioDone(request: BlockRequest): void {
    this.done[request.cookie] = (this.done[request.cookie] ?? 0) + 1;
    this.total++;
  }
}

function request(owner: IoOwner, op: number, block: number, count: number, cookie = 0): BlockRequest {
  const made = new BlockRequest(owner);
  made.op = op;
  made.block = block;
  made.count = count;
  made.cookie = cookie;
  return made;
}

function malformed(driver: Driver): readonly (readonly [string, (r: BlockRequest) => void])[] {
  const { device, bytes } = driver;
  const data = new Uint8Array(bytes);
  const set = (fields: Partial<BlockRequest>) => (r: BlockRequest) => Object.assign(r, fields);
  return [
    ['beyond the end', set({ op: READ, block: device.blockCount, count: 1 })],
    ['across the end', set({ op: WRITE, block: device.blockCount - 1, count: 2 })],
    ['before the start', set({ op: READ, block: -1, count: 1 })],
    ['a fraction of a block', set({ op: READ, block: 0.5, count: 1 })],
    ['no block', set({ op: WRITE, block: 0, count: 0 })],
    ['a negative count', set({ op: READ, block: 4, count: -1 })],
    ['not a number', set({ op: READ, block: Number.NaN, count: 1 })],
    ['too little data', set({ op: WRITE, block: 0, count: 2, data })],
    ['too much data', set({ op: READ, block: 0, count: 1, data: new Uint8Array(2 * bytes) })],
    ['too few tags', set({ op: WRITE, block: 0, count: 2, tags: new Uint32Array(1) })],
    ['data and tags', set({ op: WRITE, block: 0, count: 1, data, tags: new Uint32Array(1) })],
    ['an unknown operation', set({ op: 17, block: 0, count: 1 })],
    ['a payload for a discard', set({ op: BlockOp.discard, block: 0, count: 1, data })],
    ['a payload for write zeroes', set({ op: BlockOp.writeZeroes, block: 0, count: 1, data })],
    ['a payload for a flush', set({ op: BlockOp.flush, data })],
    ['blocks for a flush', set({ op: BlockOp.flush, block: 0, count: 1 })],
    ['FUA for a read', set({ op: READ, block: 0, count: 1, flags: BlockFlag.fua })],
    ['a write ahead', set({ op: WRITE, block: 0, count: 1, flags: BlockFlag.ahead })],
    ['an unknown flag', set({ op: WRITE, block: 0, count: 1, flags: 1 << 12 })],
  ];
}

/** Tests that hold for every device, whether it keeps contents or not. */
export const completionTests: readonly ConformanceTest[] = [
  {
    name: 'describes itself as declared, with sizes that are usable',
    body({ device }, capabilities) {
      const { blockBytes, blockCount, features } = device;
      check(
        blockBytes >= 512 && (blockBytes & (blockBytes - 1)) === 0,
        `blockBytes ${blockBytes} is a power of two ≥ 512`,
      );
      check(Number.isSafeInteger(blockCount) && blockCount >= 64, `blockCount ${blockCount} is an integer ≥ 64`);
      check(features.atomicBlocks >= 1, `atomicBlocks ${features.atomicBlocks} is at least 1`);
      for (const name of ['fua', 'volatileCache', 'discard', 'atomicBlocks', 'keeps'] as const) {
        check(
          features[name] === capabilities[name],
          `feature ${name} is ${features[name]}, declared ${capabilities[name]}`,
        );
      }
      check((device.plug === undefined) === (device.unplug === undefined), 'plug and unplug come together');
    },
  },
  {
    name: 'gives every request back exactly once, with its fields untouched',
    body({ device, simulator, bytes }) {
      const owner = new Counter();
      const sent: BlockRequest[] = [];
      for (let cookie = 0; cookie < 32; cookie++) {
        const r = request(owner, cookie % 2 === 0 ? WRITE : READ, cookie * 2, 2, cookie);
        r.data = pattern(2 * bytes, cookie);
        r.origin = 40 + cookie;
        r.stream = cookie % 3;
        r.flow = cookie % 5;
        r.flags = BlockFlag.sync;
        r.status = 99;
        sent.push(r);
        device.submit(r);
      }
      simulator.drain();
      check(owner.total === 32, `32 requests were sent, ${owner.total} came back`);
      for (const [cookie, r] of sent.entries()) {
        check(owner.done[cookie] === 1, `request ${cookie} came back ${owner.done[cookie]} times`);
        check(r.status === BlockStatus.ok, `request ${cookie} has status ${r.status}`);
        const same = r.block === cookie * 2 && r.count === 2 && r.origin === 40 + cookie && r.stream === cookie % 3;
        check(same && r.flow === cookie % 5 && r.flags === BlockFlag.sync, `fields of request ${cookie} are as sent`);
        check(r.owner === owner && r.data?.length === 2 * bytes, `owner and buffer of request ${cookie} are as sent`);
      }
    },
  },
  {
    name: 'refuses malformed requests with RangeError or TypeError, changes nothing and does not give them back',
    body(driver, capabilities) {
      const { device, simulator } = driver;
      const before = pattern(driver.bytes, 7);
      driver.write(0, before);
      driver.write(device.blockCount - 1, before);
      const owner = new Counter();
      for (const [what, spoil] of malformed(driver)) {
        const r = request(owner, READ, 0, 1);
        spoil(r);
        checkThrows(() => device.submit(r), `a request with ${what}`);
      }
      simulator.drain();
      check(owner.total === 0, `${owner.total} malformed requests were given back`);
      if (capabilities.keeps === 'nothing') return;
      driver.expect(0, before, 'block 0 after malformed requests');
      driver.expect(device.blockCount - 1, before, 'the last block after malformed requests');
    },
  },
  {
    name: 'completes flushes and writes with PREFLUSH',
    body(driver) {
      check(driver.run(BlockOp.flush, 0, 0) === BlockStatus.ok, 'a flush of a fresh device succeeds');
      driver.write(3, pattern(driver.bytes, 1));
      driver.write(4, pattern(driver.bytes, 2), BlockFlag.preflush);
      check(driver.run(BlockOp.flush, 0, 0) === BlockStatus.ok, 'a flush after writes succeeds');
    },
  },
  {
    name: 'takes requests without a payload',
    body(driver) {
      check(driver.run(WRITE, 8, 4) === BlockStatus.ok, 'a write without payload succeeds');
      check(driver.run(READ, 8, 4) === BlockStatus.ok, 'a read without payload succeeds');
    },
  },
  {
    name: 'takes requests from inside ioDone, in a chain of any length',
    body({ device, simulator }) {
      const length = 20_000;
      let done = 0;
      const owner: IoOwner = {
        ioDone(r) {
          if (++done === length) return;
          r.block = done % 64;
          device.submit(r);
        },
      };
      device.submit(request(owner, WRITE, 0, 1));
      simulator.drain();
      check(done === length, `a chain of ${length} requests, ${done} came back`);
    },
  },
  {
    name: 'submits held-back requests at the latest when unplugged',
    body({ device, simulator }) {
      if (device.plug === undefined || device.unplug === undefined) return;
      const owner = new Counter();
      device.plug();
      for (let at = 0; at < 4; at++) device.submit(request(owner, WRITE, at, 1, at));
      device.unplug();
      simulator.drain();
      check(owner.total === 4, `4 requests between plug and unplug, ${owner.total} came back`);
    },
  },
];
