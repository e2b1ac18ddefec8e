import { BlockOp, BlockStatus, type ZoneCapability, ZoneOp } from '../index.js';

/** Shape and limits of zones, without their state. */
export type ZoneShape = Pick<
  ZoneCapability,
  'zoneCount' | 'zoneBlocks' | 'zoneCapacityBlocks' | 'maxOpen' | 'maxActive'
>;

type StateName = 'empty' | 'implicitlyOpen' | 'explicitlyOpen' | 'closed' | 'full' | 'readOnly' | 'offline';

interface ModelZone {
  state: StateName;
  /** What was written since the last reset, a word per block. */
  words: number[];
  /** Blocks below the write pointer: the words, or the capacity of a full zone. */
  pointer: number;
  /** Words that a power cut must leave, as far as the test knows. */
  durable: number;
  /** When it was opened last. */
  opened: number;
}

/** What a request must end with. */
export interface ModelAnswer {
  readonly status: number;
  /** First block of an append that succeeded. */
  readonly placed: number;
}

function fresh(): ModelZone {
  return { state: 'empty', words: [], pointer: 0, durable: 0, opened: 0 };
}

/** The rules of zones as plainly as they can be said, with words as contents. */
export class ZoneModel {
  readonly zones: ModelZone[];
  private readonly shape: ZoneShape;
  private clock = 0;

  constructor(shape: ZoneShape) {
    this.shape = shape;
    this.zones = Array.from({ length: shape.zoneCount }, () => fresh());
  }

  /** Words that `count` blocks read as. */
  read(block: number, count: number): number[] {
    return Array.from({ length: count }, (_, at) => {
      const zone = this.zones[Math.floor((block + at) / this.shape.zoneBlocks)];
      return zone.words[(block + at) % this.shape.zoneBlocks] ?? 0;
    });
  }

  /** The block at which the next write to a zone must start. */
  pointerOf(zone: number): number {
    return zone * this.shape.zoneBlocks + this.zones[zone].pointer;
  }

  /** Carries out a request; `words` are those of a write or append. */
  run(op: number, block: number, count: number, words: readonly number[] = []): ModelAnswer {
    const { zoneBlocks } = this.shape;
    const first = Math.floor(block / zoneBlocks);
    switch (op) {
      case BlockOp.write:
        return { status: this.write(this.zones[first], block % zoneBlocks, words), placed: 0 };
      case BlockOp.writeZeroes:
        return { status: this.write(this.zones[first], block % zoneBlocks, Array(count).fill(0)), placed: 0 };
      case ZoneOp.append: {
        const placed = this.pointerOf(first);
        const status = this.write(this.zones[first], this.zones[first].pointer, words);
        return { status, placed: status === BlockStatus.ok ? placed : 0 };
      }
      case BlockOp.read: {
        const lost = this.zones
          .slice(first, Math.ceil((block + count) / zoneBlocks))
          .some((z) => z.state === 'offline');
        return { status: lost ? BlockStatus.zoneOffline : BlockStatus.ok, placed: 0 };
      }
      case BlockOp.flush:
        return { status: BlockStatus.ok, placed: 0 };
      default: {
        const zones = this.zones.slice(first, first + count / zoneBlocks);
        return { status: zones.length === 1 ? this.one(op, zones[0]) : this.several(op, zones), placed: 0 };
      }
    }
  }

  private count(...states: StateName[]): number {
    return this.zones.filter((zone) => states.includes(zone.state)).length;
  }

  private write(zone: ModelZone, at: number, words: readonly number[]): number {
    const { zoneCapacityBlocks } = this.shape;
    if (zone.state === 'full') return BlockStatus.zoneFull;
    if (zone.state === 'readOnly') return BlockStatus.zoneReadOnly;
    if (zone.state === 'offline') return BlockStatus.zoneOffline;
    if (at !== zone.pointer) return BlockStatus.zoneInvalidWrite;
    if (at + words.length > zoneCapacityBlocks) return BlockStatus.zoneBoundary;
    if (zone.state === 'empty' || zone.state === 'closed') {
      const status = this.open(zone, 'implicitlyOpen');
      if (status !== BlockStatus.ok) return status;
    }
    zone.words.push(...words);
    zone.pointer += words.length;
    if (zone.pointer === zoneCapacityBlocks) zone.state = 'full';
    return BlockStatus.ok;
  }

  /** Opens an empty or closed zone, if need be at the expense of another. */
  private open(zone: ModelZone, as: 'implicitlyOpen' | 'explicitlyOpen'): number {
    const { maxOpen, maxActive } = this.shape;
    const active = this.count('implicitlyOpen', 'explicitlyOpen', 'closed');
    if (zone.state === 'empty' && maxActive > 0 && active === maxActive) return BlockStatus.tooManyActiveZones;
    if (maxOpen > 0 && this.count('implicitlyOpen', 'explicitlyOpen') === maxOpen) {
      const others = this.zones.filter((other) => other.state === 'implicitlyOpen');
      if (others.length === 0) return BlockStatus.tooManyOpenZones;
      others.sort((a, b) => a.opened - b.opened)[0].state = 'closed';
    }
    zone.state = as;
    zone.opened = ++this.clock;
    return BlockStatus.ok;
  }

  private one(op: number, zone: ModelZone): number {
    const open = zone.state === 'implicitlyOpen' || zone.state === 'explicitlyOpen';
    const usable = zone.state !== 'readOnly' && zone.state !== 'offline';
    switch (op) {
      case ZoneOp.open:
        if (!usable || zone.state === 'full') break;
        if (!open) return this.open(zone, 'explicitlyOpen');
        zone.state = 'explicitlyOpen';
        return BlockStatus.ok;
      case ZoneOp.close:
        if (!open && zone.state !== 'closed') break;
        zone.state = 'closed';
        return BlockStatus.ok;
      case ZoneOp.finish:
        if (!usable) break;
        zone.state = 'full';
        zone.pointer = this.shape.zoneCapacityBlocks;
        zone.durable = zone.words.length;
        return BlockStatus.ok;
      case ZoneOp.reset:
        if (!usable) break;
        Object.assign(zone, fresh());
        return BlockStatus.ok;
      case ZoneOp.offline:
        if (usable) break;
        zone.state = 'offline';
        return BlockStatus.ok;
    }
    return BlockStatus.zoneInvalidTransition;
  }

  private several(op: number, zones: readonly ModelZone[]): number {
    const affected: Record<number, readonly StateName[]> = {
      [ZoneOp.open]: ['closed'],
      [ZoneOp.close]: ['implicitlyOpen', 'explicitlyOpen'],
      [ZoneOp.finish]: ['implicitlyOpen', 'explicitlyOpen', 'closed'],
      [ZoneOp.reset]: ['implicitlyOpen', 'explicitlyOpen', 'closed', 'full'],
      [ZoneOp.offline]: ['readOnly'],
    };
    const chosen = zones.filter((zone) => affected[op].includes(zone.state));
    const { maxOpen } = this.shape;
    if (op === ZoneOp.open && chosen.length > 0 && maxOpen > 0) {
      if (this.count('explicitlyOpen') + chosen.length > maxOpen) return BlockStatus.tooManyOpenZones;
    }
    for (const zone of chosen) this.one(op, zone);
    return BlockStatus.ok;
  }
}
