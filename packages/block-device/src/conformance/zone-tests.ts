import { type BlockFeatures, BlockFlag, BlockOp, BlockRequest, BlockStatus, ZoneOp, ZoneState } from '../index.js';
import { check, checkThrows, pattern } from './harness.js';
import type { ZoneDriver } from './zone-harness.js';
import type { ZoneShape } from './zone-model.js';
import { powerCuts, randomZoneRequests } from './zone-random.js';

/** One test: a name and what to do with a fresh device. */
export interface ZoneTest {
  readonly name: string;
  readonly body: (driver: ZoneDriver, capabilities: BlockFeatures, shape: ZoneShape) => void;
}

/** Commands to single zones, by what a test calls them. */
const COMMANDS = Object.entries(ZoneOp).filter(([name]) => name !== 'append');

/** Brings zone 0 of a fresh device into a state, or returns false where the fixture cannot. */
function bringInto(driver: ZoneDriver, state: string): boolean {
  const { fixture, model } = driver;
  switch (state) {
    case 'empty':
      return true;
    case 'implicitlyOpen':
      driver.agree([driver.writing(0, 2)], state);
      return true;
    case 'explicitlyOpen':
      driver.agree([driver.commanding(ZoneOp.open, 0)], state);
      return true;
    case 'closed':
      driver.agree([driver.writing(0, 2), driver.commanding(ZoneOp.close, 0)], state);
      return true;
    case 'full':
      driver.agree([driver.writing(0, 2), driver.commanding(ZoneOp.finish, 0)], state);
      return true;
    default: {
      if (fixture.failZone === undefined) return false;
      driver.agree([driver.writing(0, 2)], state);
      fixture.failZone(0, state === 'readOnly' ? ZoneState.readOnly : ZoneState.offline);
      model.zones[0].state = state === 'readOnly' ? 'readOnly' : 'offline';
      driver.agreeOnZones(state);
      return true;
    }
  }
}

/** Statuses of the commands to a zone in each state, as zoned NVMe namespaces have them: does it lead anywhere? */
const ALLOWED: Record<string, readonly string[]> = {
  empty: ['open', 'finish', 'reset'],
  implicitlyOpen: ['open', 'close', 'finish', 'reset'],
  explicitlyOpen: ['open', 'close', 'finish', 'reset'],
  closed: ['open', 'close', 'finish', 'reset'],
  full: ['finish', 'reset'],
  readOnly: ['offline'],
  offline: ['offline'],
};

function commandTest(state: string): ZoneTest {
  return {
    name: `leads a zone that is ${state} where each command says, or refuses`,
    body(driver) {
      for (const [name, op] of COMMANDS) {
        // Zone 0 starts afresh for each; where it cannot be reset, one command has to do.
        if (!bringInto(driver, state)) return;
        const allowed = ALLOWED[state].includes(name);
        const status = allowed ? BlockStatus.ok : BlockStatus.zoneInvalidTransition;
        driver.expectStatus(driver.commanding(op, 0), status, `${name} of a zone that is ${state}`);
        driver.agreeOnContents(0, `${name} of a zone that is ${state}`);
        if (ALLOWED[driver.model.zones[0].state].includes('reset')) {
          driver.expectStatus(driver.commanding(ZoneOp.reset, 0), BlockStatus.ok, 'reset');
        }
      }
    },
  };
}

function malformed(driver: ZoneDriver): readonly (readonly [string, Partial<BlockRequest>])[] {
  const { zoneBlocks, zoneCapacityBlocks, zoneCount } = driver.zones;
  return [
    ['an append into the middle of a zone', { op: ZoneOp.append, block: 1, count: 1 }],
    ['an append that no zone can take', { op: ZoneOp.append, block: 0, count: zoneCapacityBlocks + 1 }],
    ['an append beyond the device', { op: ZoneOp.append, block: zoneCount * zoneBlocks, count: 1 }],
    ['an append with too few tags', { op: ZoneOp.append, block: 0, count: 2, tags: new Uint32Array(1) }],
    ['a reset from the middle of a zone', { op: ZoneOp.reset, block: 1, count: zoneBlocks }],
    ['a reset of part of a zone', { op: ZoneOp.reset, block: 0, count: zoneBlocks - 1 }],
    ['a reset beyond the device', { op: ZoneOp.reset, block: (zoneCount - 1) * zoneBlocks, count: 2 * zoneBlocks }],
    ['a payload for a finish', { op: ZoneOp.finish, block: 0, count: zoneBlocks, tags: new Uint32Array(zoneBlocks) }],
    ['FUA for a close', { op: ZoneOp.close, block: 0, count: zoneBlocks, flags: BlockFlag.fua }],
    ['an unknown operation', { op: ZoneOp.offline + 1, block: 0, count: zoneBlocks }],
    ['a fraction of an operation', { op: ZoneOp.open + 0.5, block: 0, count: zoneBlocks }],
  ];
}

/** Tests that hold for every device with zones. */
export const zoneTests: readonly ZoneTest[] = [
  {
    name: 'describes itself and its zones as declared',
    body({ device, zones }, capabilities, shape) {
      for (const name of ['zoneCount', 'zoneBlocks', 'zoneCapacityBlocks', 'maxOpen', 'maxActive'] as const) {
        check(zones[name] === shape[name], `${name} is ${zones[name]}, declared ${shape[name]}`);
      }
      for (const name of ['fua', 'volatileCache', 'discard', 'atomicBlocks', 'keeps'] as const) {
        const found = device.features[name];
        check(found === capabilities[name], `feature ${name} is ${found}, declared ${capabilities[name]}`);
      }
      check(zones.zoneCount >= 4 && zones.zoneCapacityBlocks >= 8, 'there are 4 zones of 8 blocks or more');
      check(zones.zoneCapacityBlocks <= zones.zoneBlocks, 'the capacity of a zone is within it');
      const blocks = zones.zoneCount * zones.zoneBlocks;
      check(device.blockCount === blocks, `${device.blockCount} blocks are ${zones.zoneCount} zones, found ${blocks}`);
      for (const zone of [-1, 0.5, zones.zoneCount, Number.NaN]) {
        checkThrows(() => zones.stateOf(zone), `the state of zone ${zone}`);
        checkThrows(() => zones.writePointerOf(zone), `the write pointer of zone ${zone}`);
      }
    },
  },
  {
    name: 'starts with empty zones that read as zero',
    body(driver) {
      driver.agreeOnZones('a fresh device');
      driver.agreeOnContents(0, 'a fresh device');
      driver.agreeOnContents(driver.zones.zoneCount - 1, 'a fresh device');
    },
  },
  {
    name: 'takes writes at the write pointer until a zone is full',
    body(driver) {
      const { zoneCapacityBlocks: capacity, zoneCount } = driver.zones;
      for (const zone of [0, zoneCount - 1]) {
        const start = driver.start(zone);
        driver.agree([driver.writing(start, 1), driver.writing(start + 1, 3), driver.writing(start + 4, 2)], 'writes');
        driver.agree([{ op: BlockOp.writeZeroes, block: start + 6, count: 1, words: [] }], 'zeroes are written too');
        driver.agreeOnContents(zone, 'a zone written in part');
        driver.expectStatus(driver.writing(start + 7, capacity - 7), BlockStatus.ok, 'the write that fills the zone');
        check(driver.zones.stateOf(zone) === ZoneState.full, 'a zone written to its capacity is full');
        driver.agreeOnContents(zone, 'a full zone');
        driver.expectStatus(driver.writing(start + capacity - 1, 1), BlockStatus.zoneFull, 'a write to a full zone');
        driver.expectStatus(driver.appending(zone, 1), BlockStatus.zoneFull, 'an append to a full zone');
      }
    },
  },
  {
    name: 'refuses writes that are not at the pointer or do not fit, and changes nothing',
    body(driver) {
      const { zoneCapacityBlocks: capacity, zoneBlocks } = driver.zones;
      driver.expectStatus(driver.writing(1, 1), BlockStatus.zoneInvalidWrite, 'a write behind the start');
      driver.expectStatus(driver.writing(0, 4), BlockStatus.ok, 'a write at the start');
      for (const block of [0, 3, 5, capacity - 1, zoneBlocks - 1]) {
        driver.expectStatus(driver.writing(block, 1), BlockStatus.zoneInvalidWrite, `a write at block ${block} of 4`);
      }
      const beyond = capacity - 3;
      driver.expectStatus(driver.writing(4, beyond), BlockStatus.zoneBoundary, 'a write beyond the capacity');
      driver.expectStatus(driver.appending(0, beyond), BlockStatus.zoneBoundary, 'an append beyond the capacity');
      driver.expectStatus(driver.writing(4, zoneBlocks), BlockStatus.zoneBoundary, 'a write into the next zone');
      const fresh = driver.start(1);
      driver.expectStatus(driver.writing(fresh, capacity + 1), BlockStatus.zoneBoundary, 'more than a zone');
      driver.agreeOnContents(0, 'after refused writes');
      driver.agreeOnContents(1, 'after refused writes');
      driver.expectStatus(driver.writing(4, 1), BlockStatus.ok, 'a write at the pointer, after refused ones');
      driver.agreeOnContents(0, 'after all writes');
    },
  },
  {
    name: 'places appends, any number in flight, one behind the other and says where',
    body(driver, { keeps }) {
      const { zoneCapacityBlocks: capacity, zoneCount } = driver.zones;
      const sizes = [1, 3, 2, 1];
      for (const zone of [1, zoneCount - 1]) {
        const appends = Array.from({ length: 3 * capacity }, (_, at) => driver.appending(zone, sizes[at % 4]));
        driver.agree(appends, 'appends in flight');
        driver.agreeOnContents(zone, 'after appends');
      }
      driver.expectStatus(driver.commanding(ZoneOp.reset, 1), BlockStatus.ok, 'reset');
      const { bytes, device } = driver;
      const batch = driver.batch((b) => {
        for (let at = 0; at < 4; at++) b.add(ZoneOp.append, driver.start(1), 2).data = pattern(2 * bytes, at);
      });
      for (let at = 0; at < 4; at++) {
        const { status, placed, block, count } = batch.at(at);
        check(
          status === 0 && placed === driver.start(1) + 2 * at,
          `append ${at} of bytes is placed at block ${placed}`,
        );
        check(block === driver.start(1) && count === 2, `block and count of append ${at} are as sent`);
        if (keeps === 'contents') driver.expect(placed, pattern(2 * bytes, at), `append ${at} at its place`);
      }
      check(device.zones?.writePointerOf(1) === driver.start(1) + 8, 'the pointer is behind the appends');
    },
  },
  ...Object.keys(ALLOWED).map(commandTest),
  {
    name: 'reads a zone that is read only, and refuses every access to one that is offline',
    body(driver) {
      if (driver.fixture.failZone === undefined) return;
      bringInto(driver, 'readOnly');
      driver.expectStatus(driver.writing(2, 1), BlockStatus.zoneReadOnly, 'a write to a zone that is read only');
      driver.expectStatus(driver.appending(0, 1), BlockStatus.zoneReadOnly, 'an append to a zone that is read only');
      driver.agreeOnContents(0, 'a zone that is read only');
      driver.expectStatus(driver.commanding(ZoneOp.offline, 0), BlockStatus.ok, 'offline');
      driver.expectStatus(driver.writing(2, 1), BlockStatus.zoneOffline, 'a write to a zone that is offline');
      driver.expectStatus(driver.appending(0, 1), BlockStatus.zoneOffline, 'an append to a zone that is offline');
      const read = { op: BlockOp.read, block: 1, count: 1, words: [] };
      driver.expectStatus(read, BlockStatus.zoneOffline, 'a read of a zone that is offline');
      const last = driver.zones.zoneBlocks - 1;
      driver.expectStatus({ ...read, block: last, count: 2 }, BlockStatus.zoneOffline, 'a read out of that zone');
      driver.expectStatus({ ...read, block: last + 1 }, BlockStatus.ok, 'a read of the next zone');
    },
  },
  {
    name: 'closes the zone opened first by a write when another is opened, but none that was opened explicitly',
    body(driver) {
      const { maxOpen, maxActive, zoneCount } = driver.zones;
      if (maxOpen === 0 || maxOpen >= zoneCount || (maxActive > 0 && maxActive === maxOpen)) return;
      for (let zone = 0; zone < maxOpen; zone++) driver.expectStatus(driver.appending(zone, 1), 0, 'an append');
      driver.expectStatus(driver.appending(0, 1), 0, 'an append to an open zone');
      driver.expectStatus(driver.appending(maxOpen, 1), 0, 'an append that opens one zone too many');
      check(driver.zones.stateOf(0) === ZoneState.closed, 'the zone opened first is closed');
      driver.agree([driver.commanding(ZoneOp.reset, 0, zoneCount)], 'reset of all');
      for (let zone = 0; zone < maxOpen; zone++) driver.agree([driver.commanding(ZoneOp.open, zone)], 'open');
      const next = maxOpen;
      driver.expectStatus(driver.appending(next, 1), BlockStatus.tooManyOpenZones, 'an append that needs a zone open');
      driver.expectStatus(driver.writing(driver.start(next), 1), BlockStatus.tooManyOpenZones, 'a write likewise');
      driver.expectStatus(driver.commanding(ZoneOp.open, next), BlockStatus.tooManyOpenZones, 'one zone too many');
      driver.expectStatus(driver.commanding(ZoneOp.close, 0), BlockStatus.ok, 'close');
      driver.expectStatus(driver.appending(next, 1), BlockStatus.ok, 'an append after a close');
    },
  },
  {
    name: 'opens no more zones than may be active, until one is full or reset',
    body(driver) {
      const { maxActive, zoneCount, zoneCapacityBlocks } = driver.zones;
      if (maxActive === 0 || maxActive + 2 > zoneCount) return;
      for (let zone = 0; zone < maxActive; zone++) driver.expectStatus(driver.appending(zone, 1), 0, 'an append');
      driver.expectStatus(driver.appending(maxActive, 1), BlockStatus.tooManyActiveZones, 'one zone too many');
      driver.expectStatus(driver.commanding(ZoneOp.open, maxActive), BlockStatus.tooManyActiveZones, 'open');
      driver.expectStatus(driver.commanding(ZoneOp.close, 0), BlockStatus.ok, 'close');
      driver.expectStatus(driver.appending(maxActive, 1), BlockStatus.tooManyActiveZones, 'a closed zone is active');
      driver.expectStatus(driver.commanding(ZoneOp.reset, 0), BlockStatus.ok, 'reset');
      driver.expectStatus(driver.appending(maxActive, 1), BlockStatus.ok, 'an append after a reset');
      driver.expectStatus(driver.appending(maxActive, zoneCapacityBlocks - 1), BlockStatus.ok, 'it fills the zone');
      driver.expectStatus(driver.appending(maxActive + 1, 1), BlockStatus.ok, 'an append after another zone is full');
    },
  },
  {
    name: 'applies a command to several zones to those that it can change',
    body(driver) {
      const { zoneCount } = driver.zones;
      for (const [name, op] of COMMANDS) {
        driver.agree([driver.commanding(ZoneOp.reset, 0, zoneCount)], 'reset of all');
        driver.agree([driver.commanding(ZoneOp.open, 0), driver.commanding(ZoneOp.finish, 1)], 'open and finish');
        driver.agree([driver.appending(2, 2), driver.commanding(ZoneOp.close, 2), driver.appending(3, 2)], 'appends');
        driver.agree([driver.commanding(op, 0, 3)], `${name} of three zones`);
        driver.agree([driver.commanding(op, 0, zoneCount)], `${name} of all zones`);
        for (let zone = 0; zone < 4; zone++) driver.agreeOnContents(zone, `${name} of all zones`);
      }
    },
  },
  {
    name: 'refuses malformed requests with RangeError or TypeError, changes nothing and does not give them back',
    body(driver) {
      driver.agree([driver.appending(0, 3)], 'an append');
      let given = 0;
      const owner = { ioDone: () => void given++ };
      for (const [what, fields] of malformed(driver)) {
        const request = Object.assign(new BlockRequest(owner), fields);
        checkThrows(() => driver.device.submit(request), what);
      }
      driver.simulator.drain();
      check(given === 0, `${given} malformed requests were given back`);
      driver.agreeOnZones('after malformed requests');
      driver.agreeOnContents(0, 'after malformed requests');
    },
  },
  {
    name: 'honours FUA for writes and appends, or refuses it and changes nothing; takes PREFLUSH and flushes',
    body(driver, { fua }) {
      for (const plain of [driver.writing(0, 1, BlockFlag.fua), driver.appending(0, 1, BlockFlag.fua)]) {
        if (fua) {
          driver.expectStatus(plain, BlockStatus.ok, 'FUA');
          continue;
        }
        const status = driver.batch((batch) => void driver.put(batch, plain)).status;
        check(status === BlockStatus.notSupported, `FUA is refused with notSupported, found ${status}`);
        driver.agreeOnZones('after FUA was refused');
      }
      driver.expectStatus(driver.appending(0, 1, BlockFlag.preflush), BlockStatus.ok, 'an append with PREFLUSH');
      driver.expectStatus({ op: BlockOp.flush, block: 0, count: 0, words: [] }, BlockStatus.ok, 'a flush');
      driver.agreeOnContents(0, 'after FUA');
    },
  },
  {
    name: 'moves no pointer for a discard, which it carries out or refuses',
    body(driver, { discard }) {
      driver.agree([driver.appending(0, 4)], 'an append');
      const status = driver.run(BlockOp.discard, 1, 2);
      const expected = discard ? BlockStatus.ok : BlockStatus.notSupported;
      check(status === expected, `a discard has status ${expected}, found ${status}`);
      driver.agreeOnZones('after a discard');
      if (!discard) driver.agreeOnContents(0, 'after a discard that was refused');
    },
  },
  {
    name: 'agrees with a model of zones under random requests, many in flight',
    body: (driver) => randomZoneRequests(driver),
  },
  {
    name: 'keeps the start of each zone through power cuts: all that is durable, in order, and nothing else',
    body: (driver) => powerCuts(driver),
  },
];
