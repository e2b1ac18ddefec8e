import { BlockFlag, BlockOp, BlockRequest, ZoneOp, zoneStateName } from '../index.js';
import { check } from './harness.js';
import { Dice, type PlainRequest, type ZoneDriver } from './zone-harness.js';

/** A request to one of the first zones, as likely refused as carried out. `pointer` is where the model expects a write. */
function randomRequest(driver: ZoneDriver, dice: Dice, pointers: number[]): PlainRequest {
  const { zones } = driver;
  const zone = dice.below(Math.min(zones.zoneCount, 7));
  const start = driver.start(zone);
  const free = Math.max(1, start + zones.zoneCapacityBlocks - pointers[zone]);
  const count = 1 + dice.below(dice.below(4) === 0 ? free : Math.min(free, 6));
  // The pointer of the last zone may be the end of the device.
  const pointer = Math.min(pointers[zone], driver.device.blockCount - count);
  switch (dice.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return driver.writing(pointer, count);
    case 4:
      return driver.writing(start + dice.below(zones.zoneCapacityBlocks), 1 + dice.below(3));
    case 5:
      return { op: BlockOp.writeZeroes, block: pointer, count, words: [] };
    case 6:
      return driver.commanding(ZoneOp.open, zone);
    case 7:
      return driver.commanding(ZoneOp.close, zone);
    case 8:
      return driver.commanding(dice.below(2) === 0 ? ZoneOp.finish : ZoneOp.offline, zone);
    case 9:
    case 10:
      return driver.commanding(ZoneOp.reset, zone);
    case 11: {
      const several = 1 + dice.below(zones.zoneCount - zone);
      return driver.commanding(ZoneOp.open + dice.below(dice.below(4) === 0 ? 5 : 2), zone, several);
    }
    default:
      return driver.appending(zone, Math.min(count, zones.zoneCapacityBlocks));
  }
}

/** Rounds of random requests in flight together, against the model. */
export function randomZoneRequests(driver: ZoneDriver): void {
  const dice = new Dice(20_251);
  for (let round = 0; round < 150; round++) roundOfRequests(driver, dice, `round ${round}`);
}

function roundOfRequests(driver: ZoneDriver, dice: Dice, what: string): void {
  const { zones, model } = driver;
  const pointers = Array.from({ length: zones.zoneCount }, (_, zone) => model.pointerOf(zone));
  const requests: PlainRequest[] = [];
  for (let at = dice.below(9); at >= 0; at--) {
    const plain = randomRequest(driver, dice, pointers);
    const zone = Math.floor(plain.block / zones.zoneBlocks);
    // Of several writes in flight to one zone, each starts where the one before ends.
    if (plain.op === ZoneOp.reset) pointers[zone] = driver.start(zone);
    else if (plain.op <= ZoneOp.append) {
      const end = pointers[zone] + plain.count;
      if (end < driver.start(zone) + zones.zoneCapacityBlocks) pointers[zone] = end;
    }
    requests.push(plain);
  }
  driver.agree(requests, what);
  for (let zone = 0; zone < Math.min(zones.zoneCount, 7); zone++) driver.agreeOnContents(zone, what);
}

/** Random requests, then writes and appends in flight, then a power cut; again and again. */
export function powerCuts(driver: ZoneDriver): void {
  const { fixture, zones, model, device, simulator } = driver;
  if (fixture.powerCut === undefined) return;
  const dice = new Dice(77);
  for (let round = 0; round < 60; round++) {
    driver.agree([driver.commanding(ZoneOp.reset, dice.below(zones.zoneCount))], 'reset');
    for (let more = dice.below(3); more > 0; more--) roundOfRequests(driver, dice, `before cut ${round}`);
    const flushed = dice.below(2) === 0;
    if (flushed) driver.agree([{ op: BlockOp.flush, block: 0, count: 0, words: [] }], 'flush');
    if (flushed || !device.features.volatileCache) {
      for (const zone of model.zones) zone.durable = zone.words.length;
    }
    const sent = sendWrites(driver, dice);
    simulator.runUntil(simulator.now + dice.below(10 ** dice.below(8)));
    for (const write of sent) noteCompleted(driver, write, `before cut ${round}`);
    fixture.powerCut();
    for (let zone = 0; zone < zones.zoneCount; zone++) afterCut(driver, zone, `after cut ${round}`);
    const active = model.zones.filter((zone) => zone.state === 'closed').length;
    check(zones.maxActive === 0 || active <= zones.maxActive, `after cut ${round}: ${active} zones are active`);
  }
}

/** A write or append that was sent shortly before a power cut. */
interface SentWrite {
  readonly plain: PlainRequest;
  readonly request: BlockRequest;
  /** What the model says it ends with. */
  readonly status: number;
  /** Blocks of its zone that are written with it. */
  readonly end: number;
}

/** Value of `cookie` of a request that was given back. */
const DONE = 1;

function sendWrites(driver: ZoneDriver, dice: Dice): SentWrite[] {
  const { model, zones, device } = driver;
  const owner = {
    ioDone(request: BlockRequest): void {
      request.cookie = DONE;
    },
  };
  return Array.from({ length: 12 }, () => {
    const zone = dice.below(Math.min(zones.zoneCount, 5));
    const count = 1 + dice.below(Math.min(6, zones.zoneCapacityBlocks));
    const flags = device.features.fua && dice.below(4) === 0 ? BlockFlag.fua : 0;
    const append = dice.below(2) === 0;
    const plain = append ? driver.appending(zone, count, flags) : driver.writing(model.pointerOf(zone), count, flags);
    // The pointer of a full zone may be the start of the next, or the end of the device.
    const at = append ? plain : { ...plain, block: Math.min(plain.block, driver.start(zone + 1) - count) };
    const request = driver.fill(new BlockRequest(owner), at);
    const { status } = model.run(at.op, at.block, at.count, at.words);
    device.submit(request);
    return { plain: at, request, status, end: model.zones[zone].words.length };
  });
}

function noteCompleted({ model, zones, device }: ZoneDriver, write: SentWrite, what: string): void {
  const { plain, request, status, end } = write;
  if (request.cookie !== DONE) return;
  check(request.status === status, `${what}: a write ends with status ${request.status}, expected ${status}`);
  const durable = !device.features.volatileCache || ((plain.flags ?? 0) & BlockFlag.fua) !== 0;
  const zone = model.zones[Math.floor(plain.block / zones.zoneBlocks)];
  if (durable && status === 0) zone.durable = Math.max(zone.durable, end);
}

/** Checks what a power cut has left of a zone, and lets the model go on from there. */
function afterCut(driver: ZoneDriver, zone: number, what: string): void {
  const { zones } = driver;
  const before = driver.model.zones[zone];
  const { words, durable } = before;
  const state = zoneStateName(zones.stateOf(zone));
  const pointer = zones.writePointerOf(zone) - driver.start(zone);
  const where = `${what}: zone ${zone}, ${before.state} with ${words.length} blocks of which ${durable} are durable,`;
  let kept = pointer;
  if (state === 'full') {
    check(before.state === 'full', `${where} is full`);
    check(pointer === zones.zoneCapacityBlocks, `${where} is full with its pointer at ${pointer}`);
    kept = words.length;
  } else {
    check(before.state !== 'full' || durable < words.length, `${where} is ${state}`);
    check(state === (pointer === 0 ? 'empty' : 'closed'), `${where} is ${state} with its pointer at ${pointer}`);
  }
  check(kept >= durable && kept <= words.length, `${where} has its pointer at ${kept}`);
  Object.assign(before, { state, words: words.slice(0, kept), pointer, durable: kept });
  driver.agreeOnContents(zone, what);
}
