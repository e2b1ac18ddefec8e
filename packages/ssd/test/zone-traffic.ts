import {
  BlockFlag,
  BlockOp,
  BlockRequest,
  BlockStatus,
  blockStatusName,
  type IoOwner,
  type ZoneCapability,
  ZoneOp,
  ZoneState,
  zoneStateName,
} from '@flashstack/block-device';
import type { RandomStream, Simulator } from '@flashstack/sim';
import type { Ssd } from '../src/index.js';

/** What a zone holds between two resets: its words, and of them how many must survive a power cut. */
interface Life {
  words: number[];
  /** End of the last write of it that is done. */
  completed: number;
  durable: number;
  finishing: boolean;
  finished: boolean;
}

/** Refusals that a host meets when it knows nothing of what others do. */
const EXPECTED: readonly number[] = [
  BlockStatus.zoneFull,
  BlockStatus.zoneBoundary,
  BlockStatus.tooManyActiveZones,
  BlockStatus.tooManyOpenZones,
  BlockStatus.zoneInvalidTransition,
];

/** Random writes, appends and commands to zones, many in flight; knows what each zone may hold after a power cut. */
export class ZoneTraffic implements IoOwner {
  accepted = 0;
  private readonly simulator: Simulator;
  private readonly ssd: Ssd;
  private readonly zones: ZoneCapability;
  private readonly random: RandomStream;
  /** Per zone: the lives that a power cut may leave, the newest last. */
  private readonly lives: Life[][];
  private readonly done: Map<BlockRequest, () => void> = new Map();
  private left = 0;
  private word = 0;

  constructor(simulator: Simulator, ssd: Ssd, random: RandomStream) {
    this.simulator = simulator;
    this.ssd = ssd;
    this.zones = ssd.zones as ZoneCapability;
    this.random = random;
    this.lives = Array.from({ length: this.zones.zoneCount }, () => [newLife()]);
  }

  /** Resets all zones of a drive that something has been written to. */
  emptyAll(): void {
    const request = new BlockRequest({ ioDone: () => undefined });
    Object.assign(request, { op: ZoneOp.reset, block: 0, count: this.ssd.blockCount });
    this.ssd.submit(request);
    this.simulator.drain();
    if (request.status !== BlockStatus.ok)
      throw new Error(`resetting all ends with ${blockStatusName(request.status)}`);
  }

  start(requests: number, depth: number): void {
    this.left = requests;
    for (let i = 0; i < depth; i++) this.send();
  }

  ioDone(request: BlockRequest): void {
    const done = this.done.get(request);
    if (done === undefined) return;
    this.done.delete(request);
    if (request.status !== BlockStatus.ok) throw new Error(`a request ends with ${blockStatusName(request.status)}`);
    done();
    this.send();
  }

  /** Power fails and comes back. */
  cut(): void {
    this.left = 0;
    if (this.ssd.config.powerLossProtection) {
      for (const lives of this.lives) for (const life of lives) life.durable = Math.max(life.durable, life.completed);
    }
    this.done.clear();
    this.ssd.powerCut();
    this.ssd.powerOn();
  }

  /** Reads every zone: after a power cut it must hold what it may, otherwise all that was written. */
  verify(cut: boolean): void {
    for (let zone = 0; zone < this.zones.zoneCount; zone++) this.verifyZone(zone, cut);
    const { maxActive } = this.zones;
    const active = this.lives.filter((_, zone) => this.zones.stateOf(zone) === ZoneState.closed).length;
    if (cut && maxActive > 0 && active > maxActive) throw new Error(`${active} zones are active`);
  }

  private verifyZone(zone: number, cut: boolean): void {
    const found = this.read(zone);
    const lives = this.lives[zone];
    const newest = lives[lives.length - 1];
    const state = this.zones.stateOf(zone);
    const isFull = state === ZoneState.full;
    const where = `zone ${zone} is ${zoneStateName(state)} with ${found.length} blocks`;
    const isPossible = (life: Life): boolean => {
      if (!isStart(found, life.words)) return false;
      if (isFull && found.length < this.zones.zoneCapacityBlocks && !life.finishing) return false;
      if (!cut) return found.length === life.words.length;
      return life !== newest || (found.length >= life.durable && (isFull || !life.finished));
    };
    const may = (cut ? lives : [newest]).findLast(isPossible);
    if (may === undefined) {
      const all = lives.map((life) => `${life.durable} to ${life.words.length}${life.finished ? ' and full' : ''}`);
      throw new Error(`${where}: of its lives there may be ${all.join(', or ')}`);
    }
    const pointer = this.zones.writePointerOf(zone) - zone * this.zones.zoneBlocks;
    if (!isFull && pointer !== found.length) throw new Error(`${where}: its pointer is ${pointer}`);
    if (cut && !isFull && state !== (pointer === 0 ? ZoneState.empty : ZoneState.closed)) throw new Error(where);
    if (!cut) return;
    const life = { words: found, completed: found.length, durable: found.length, finishing: isFull, finished: isFull };
    this.lives[zone] = [life];
  }

  private read(zone: number): number[] {
    const { zoneCapacityBlocks: count, zoneBlocks } = this.zones;
    const tags = new Uint32Array(count);
    let isDone = false;
    const request = new BlockRequest({
      ioDone: () => {
        isDone = true;
      },
    });
    Object.assign(request, { op: BlockOp.read, block: zone * zoneBlocks, count, tags });
    this.ssd.submit(request);
    while (!isDone) this.simulator.runUntil(this.simulator.now + 1_000_000);
    const end = tags.indexOf(0);
    const words = [...tags.subarray(0, end < 0 ? count : end)];
    if (end >= 0 && tags.subarray(end).some((word) => word !== 0)) throw new Error(`zone ${zone} has a gap at ${end}`);
    return words;
  }

  private send(): void {
    while (this.left > 0) {
      this.left--;
      if (this.sendOne()) return;
    }
  }

  /** False if the request was refused. */
  private sendOne(): boolean {
    const { random, zones } = this;
    const zone = random.below(zones.zoneCount);
    const kind = random.below(100);
    const life = this.newest(zone);
    const whole = { block: zone * zones.zoneBlocks, count: zones.zoneBlocks };
    if (kind < 78) return this.sendWrite(zone, kind < 40);
    if (kind < 86) return this.sendFlush();
    if (kind < 93) return this.sendReset(zone, whole);
    if (kind >= 96) return this.submit(kind < 98 ? ZoneOp.open : ZoneOp.close, whole, () => {});
    const before = life.words.length;
    const accepted = this.submit(ZoneOp.finish, whole, () => {
      life.durable = Math.max(life.durable, before);
      life.finished = true;
      this.isSettled(zone, life);
    });
    life.finishing ||= accepted;
    return accepted;
  }

  private sendWrite(zone: number, append: boolean): boolean {
    const { random, zones } = this;
    const life = this.newest(zone);
    const room = (zone + 1) * zones.zoneBlocks - zones.writePointerOf(zone);
    const wanted = 1 + random.below(random.below(8) === 0 ? zones.zoneCapacityBlocks : 6);
    const count = append ? wanted : Math.min(wanted, Math.max(1, room));
    const tags = Uint32Array.from({ length: count }, () => ++this.word);
    const flags = random.below(8) === 0 ? BlockFlag.fua : 0;
    const start = zone * zones.zoneBlocks;
    // The pointer of a full zone may be the start of the next, or the end of the drive.
    const pointer = Math.min(zones.writePointerOf(zone), start + zones.zoneBlocks - count);
    const block = append ? start : pointer;
    const end = life.words.length + count;
    const accepted = this.submit(append ? ZoneOp.append : BlockOp.write, { block, count, tags, flags }, () => {
      life.completed = Math.max(life.completed, end);
      if (flags !== 0) life.durable = Math.max(life.durable, end);
      if (flags !== 0) this.isSettled(zone, life);
    });
    if (accepted) life.words.push(...tags);
    return accepted;
  }

  private sendFlush(): boolean {
    const covers = this.lives.map((_lives, zone) => ({
      zone,
      life: this.newest(zone),
      end: this.newest(zone).completed,
    }));
    return this.submit(BlockOp.flush, { block: 0, count: 0 }, () => {
      for (const { zone, life, end } of covers) {
        life.durable = Math.max(life.durable, end);
        if (end > 0) this.isSettled(zone, life);
      }
    });
  }

  private sendReset(zone: number, whole: Partial<BlockRequest>): boolean {
    const next = newLife();
    const accepted = this.submit(ZoneOp.reset, whole, () => this.isSettled(zone, next));
    if (accepted) this.lives[zone].push(next);
    return accepted;
  }

  /** Something of this life is durable: the lives before it are over. */
  private isSettled(zone: number, life: Life): void {
    const at = this.lives[zone].indexOf(life);
    if (at > 0) this.lives[zone].splice(0, at);
  }

  private newest(zone: number): Life {
    const lives = this.lives[zone];
    return lives[lives.length - 1];
  }

  private submit(op: number, fields: Partial<BlockRequest>, done: () => void): boolean {
    const request = new BlockRequest(this);
    Object.assign(request, fields, { op });
    let isAccepted = false;
    request.owner = {
      ioDone: (refused) => {
        if (!isAccepted && EXPECTED.includes(refused.status)) isAccepted = false;
        else this.ioDone(refused);
      },
    };
    this.done.set(request, done);
    this.ssd.submit(request);
    isAccepted = !EXPECTED.includes(request.status);
    if (!isAccepted) this.done.delete(request);
    else this.accepted++;
    return isAccepted;
  }
}

function newLife(): Life {
  return { words: [], completed: 0, durable: 0, finishing: false, finished: false };
}

function isStart(found: readonly number[], words: readonly number[]): boolean {
  return found.length <= words.length && found.every((word, at) => word === words[at]);
}
