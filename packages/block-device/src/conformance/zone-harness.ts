import {
  BlockOp,
  type BlockRequest,
  blockStatusName,
  type IoBatch,
  type ZoneCapability,
  ZoneOp,
  type ZoneState,
  zoneStateName,
} from '../index.js';
import { type ConformanceFixture, check, Driver } from './harness.js';
import { ZoneModel } from './zone-model.js';

/** A device with zones under test, and what its zones can be made to suffer. */
export interface ZonedConformanceFixture extends ConformanceFixture {
  /** Cuts power and brings it back; requests in flight are never given back. Without it power cuts are not tested. */
  powerCut?(): void;
  /** Makes a zone fail, to be read only or offline. Without it those two states are not tested. */
  failZone?(zone: number, state: typeof ZoneState.readOnly | typeof ZoneState.offline): void;
}

/** Numbers that look random; the same in every run. */
export class Dice {
  private seed: number;

  constructor(seed: number) {
    this.seed = seed;
  }

  below(n: number): number {
    this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) >>> 0;
    return (this.seed >>> 8) % n;
  }
}

/** One request as plain data. */
export interface PlainRequest {
  readonly op: number;
  readonly block: number;
  readonly count: number;
  /** Contents of a write or append. */
  readonly words: readonly number[];
  readonly flags?: number;
}

/** A driver that knows zones, and a model of them beside the device. */
export class ZoneDriver extends Driver {
  readonly fixture: ZonedConformanceFixture;
  readonly zones: ZoneCapability;
  readonly model: ZoneModel;
  private words = 0;

  constructor(fixture: ZonedConformanceFixture) {
    super(fixture);
    const zones = fixture.device.zones ?? null;
    check(zones !== null, 'the device has zones');
    this.fixture = fixture;
    this.zones = zones;
    this.model = new ZoneModel(zones);
  }

  /** First block of a zone. */
  start(zone: number): number {
    return zone * this.zones.zoneBlocks;
  }

  /** Most zones that a test may hold open explicitly. */
  get openable(): number {
    const { zoneCount, maxOpen, maxActive } = this.zones;
    return Math.min(zoneCount, ...[maxOpen, maxActive].filter((limit) => limit > 0));
  }

  /** Words that differ from all others, for `count` blocks. */
  freshWords(count: number): number[] {
    return Array.from({ length: count }, () => ++this.words);
  }

  /** Writes so many blocks at a block. */
  writing(block: number, count: number, flags = 0): PlainRequest {
    return { op: BlockOp.write, block, count, words: this.freshWords(count), flags };
  }

  /** Appends so many blocks to a zone. */
  appending(zone: number, count: number, flags = 0): PlainRequest {
    return { op: ZoneOp.append, block: this.start(zone), count, words: this.freshWords(count), flags };
  }

  /** A command to so many zones. */
  commanding(op: number, zone: number, count = 1): PlainRequest {
    return { op, block: this.start(zone), count: count * this.zones.zoneBlocks, words: [] };
  }

  /** Adds a request to a batch as it is. */
  put(batch: IoBatch, plain: PlainRequest): BlockRequest {
    return this.fill(batch.add(plain.op, plain.block, plain.count), plain);
  }

  /** Fills a new request in. */
  fill(request: BlockRequest, plain: PlainRequest): BlockRequest {
    const { op, block, count, flags = 0, words } = plain;
    Object.assign(request, { op, block, count, flags });
    if (words.length > 0) request.tags = Uint32Array.from(words);
    return request;
  }

  /** Sends requests together and compares statuses, places, states and pointers with the model. */
  agree(requests: readonly PlainRequest[], what: string): IoBatch {
    const batch = this.batch((b) => {
      for (const plain of requests) this.put(b, plain);
    });
    for (const [at, plain] of requests.entries()) {
      const expected = this.model.run(plain.op, plain.block, plain.count, plain.words);
      const { status, placed } = batch.at(at);
      const which = `${what}: request ${at} (operation ${plain.op}, block ${plain.block}, count ${plain.count})`;
      check(
        status === expected.status,
        `${which} ends with ${blockStatusName(status)}, expected ${blockStatusName(expected.status)}`,
      );
      if (plain.op !== ZoneOp.append || status !== 0) continue;
      check(placed === expected.placed, `${which} is placed at block ${placed}, expected ${expected.placed}`);
    }
    this.agreeOnZones(what);
    return batch;
  }

  /** Runs one request that must end with this status, and as the model says. */
  expectStatus(plain: PlainRequest, status: number, what: string): void {
    const { status: found } = this.agree([plain], what).at(0);
    check(
      found === status,
      `${what} (operation ${plain.op}) ends with ${blockStatusName(found)}, expected ${blockStatusName(status)}`,
    );
  }

  /** Compares states and pointers of all zones with the model. */
  agreeOnZones(what: string): void {
    const { zones, model } = this;
    for (let zone = 0; zone < zones.zoneCount; zone++) {
      const state = zoneStateName(zones.stateOf(zone));
      const expected = model.zones[zone].state;
      check(state === expected, `${what}: zone ${zone} is ${state}, expected ${expected}`);
      const pointer = zones.writePointerOf(zone);
      check(
        pointer === model.pointerOf(zone),
        `${what}: the write pointer of zone ${zone} is ${pointer}, expected ${model.pointerOf(zone)}`,
      );
    }
  }

  /** Compares the contents of a zone with the model, to its end. */
  agreeOnContents(zone: number, what: string): void {
    if (this.model.zones[zone].state === 'offline' || this.device.features.keeps === 'nothing') return;
    const { zoneBlocks } = this.zones;
    const tags = new Uint32Array(zoneBlocks).fill(0xa5a5_a5a5);
    const status = this.run(BlockOp.read, this.start(zone), zoneBlocks, (request) => {
      request.tags = tags;
    });
    check(status === 0, `${what}: reading zone ${zone} succeeds, found ${blockStatusName(status)}`);
    const expected = this.model.read(this.start(zone), zoneBlocks);
    for (let at = 0; at < zoneBlocks; at++) {
      check(
        tags[at] === expected[at],
        `${what}: block ${at} of zone ${zone} reads as ${tags[at]}, expected ${expected[at]}`,
      );
    }
  }
}
