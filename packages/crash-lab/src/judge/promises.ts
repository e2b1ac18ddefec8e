import type { FileObject } from './file-object.js';
import type { HistoryEvent } from './history.js';
import type { Register } from './register.js';
import type { DurabilityRules } from './rules.js';
import type { PersistencePoint, Timeline } from './timeline.js';

/** How far something is durable: the number of its value in its register, and the operation that made it so (0: the base). */
export interface Durable {
  index: number;
  point: PersistencePoint | null;
}

/** What was promised when power was cut. */
export class Promises {
  readonly timeline: Timeline;
  readonly rules: DurabilityRules;
  readonly cut: number;
  /** The last position that had begun. */
  readonly begun: number;
  /** Points that were acknowledged. */
  readonly points: readonly PersistencePoint[];

  constructor(timeline: Timeline, rules: DurabilityRules, cut: number) {
    this.timeline = timeline;
    this.rules = rules;
    this.cut = cut;
    this.begun = timeline.begunAt(cut);
    const { events } = timeline;
    this.points = rules.flushes
      ? timeline.points.filter(({ position }) => (events[position] as HistoryEvent).end <= cut)
      : [];
  }

  /** True if an operation had begun at the cut, so that its effect may be there. */
  mayShow(position: number): boolean {
    return position === 0 || (this.timeline.events[position] as HistoryEvent).begin <= this.cut;
  }

  /** True if the operation at a position had ended before the one at `point` began, or is that one. */
  covers(point: PersistencePoint, position: number): boolean {
    if (position === 0) return true;
    if (position > point.position) return false;
    if (position === point.position) return true;
    const { events } = this.timeline;
    return (events[position] as HistoryEvent).end <= (events[point.position] as HistoryEvent).begin;
  }

  /** The last value of a register that the point covers; −1: none. */
  lastCovered<T>(register: Register<T>, point: PersistencePoint): number {
    let index = register.positions.length - 1;
    while (index >= 0 && !this.covers(point, register.positions[index])) index--;
    return index;
  }

  /** How far a register is durable by the points that `applies` chooses. */
  durable<T>(register: Register<T>, applies: (point: PersistencePoint) => boolean): Durable {
    const result: Durable = { index: register.positions[0] === 0 ? 0 : -1, point: null };
    for (const point of this.points) {
      if (!applies(point)) continue;
      const index = this.lastCovered(register, point);
      if (index >= result.index && index >= 0) {
        result.index = index;
        result.point = point;
      }
    }
    return result;
  }

  /** How far the attributes of an object are durable. */
  ofAttributes<T>(object: FileObject, register: Register<T>): Durable {
    return this.durable(
      register,
      (point) =>
        point.promised === 'all' ||
        (point.object === object && (point.promised === 'file' || point.promised === 'range and attributes')),
    );
  }

  /** How far the size of a file is durable. */
  ofSize(object: FileObject): Durable {
    return this.durable(object.size, (point) => {
      if (point.promised === 'all') return true;
      if (point.object !== object) return false;
      return !point.promised.startsWith('range') || object.size.positions.includes(point.position);
    });
  }

  /** How far a block of a file is durable. */
  ofBlock(object: FileObject, register: Register<Uint8Array | null>, start: number, bytes: number): Durable {
    return this.durable(register, (point) => {
      if (point.promised === 'all') return true;
      if (point.object !== object) return false;
      return !point.promised.startsWith('range') || (point.offset < start + bytes && point.end > start);
    });
  }

  /** How far an entry of a directory is durable. */
  ofEntry(directory: FileObject, name: string, register: Register<FileObject | null>): Durable {
    const result: Durable = { index: register.positions[0] === 0 ? 0 : -1, point: null };
    for (const point of this.points) {
      const index = this.entryIndex(point, directory, name, register);
      if (index < 0 || index < result.index) continue;
      result.index = index;
      result.point = point;
    }
    return result;
  }

  /** Number of the value of an entry that a point makes durable; −1: it is not about this entry. */
  private entryIndex(
    point: PersistencePoint,
    directory: FileObject,
    name: string,
    register: Register<FileObject | null>,
  ): number {
    const { object, position, promised } = point;
    const last = this.lastCovered(register, point);
    if (object === null || (object === directory && promised === 'file')) return last;
    const attributes = promised === 'file' || promised === 'range and attributes';
    if (register.values.includes(object)) {
      const onlyName = object.names.positions.filter((at) => at <= position).length === 1;
      if (!attributes && !(onlyName && this.isNew(object, position))) return -1;
      return lastAbout(register, object, last);
    }
    if (!attributes && !this.isNew(object, position)) return -1;
    // What was done to a directory before the file got its name is durable with the name.
    const named = object.names.positions[object.names.indexAt(position)];
    const counts = (above: FileObject): boolean =>
      this.isNew(above, position) || (this.rules.keepsParents && named > register.positions[last]);
    return isAbove(object, position, directory, name, counts) ? last : -1;
  }

  /** True if nothing before a position has made the object itself durable. */
  private isNew(object: FileObject, position: number): boolean {
    if (object.born === 0) return false;
    for (const point of this.points) {
      if (point.position >= position) break;
      if (point.promised === 'all' && this.covers(point, object.born)) return false;
      if (point.object === object || object.names.current.some(({ directory }) => directory === point.object))
        return false;
    }
    return true;
  }

  /** True if a point makes an object reachable. */
  private keeps(point: PersistencePoint, object: FileObject): boolean {
    const { position, promised } = point;
    if (promised === 'all') return true;
    if (point.object !== object) return promised === 'file' && holds(point.object, object, position);
    if (object.names.at(position).length === 0) return false;
    if (promised === 'file' || promised === 'range and attributes') return true;
    // The name of a new file, but not that which a file without one has got since.
    return this.isNew(object, position) && object.names.values[0].length > 0;
  }

  /** From which position on an object must be reachable until it is removed; −1: nothing has made it durable. */
  existsFrom(object: FileObject): number {
    let from = object.born === 0 ? 0 : -1;
    for (const point of this.points) {
      if (this.covers(point, object.born) && this.keeps(point, object)) from = point.position;
    }
    return from;
  }
}

/** Number of the last value, up to one, with which an entry began or ceased to lead to an object. */
function lastAbout(register: Register<FileObject | null>, object: FileObject, last: number): number {
  for (let index = last; index >= 0; index--) {
    if (register.values[index] === object || register.values[index - 1] === object) return index;
  }
  return -1;
}

function holds(directory: FileObject | null, object: FileObject, position: number): boolean {
  return directory !== null && object.names.at(position).some((name) => name.directory === directory);
}

/** True if an entry is on a path of an object at a position, where `counts` says whether that of a directory counts. */
function isAbove(
  object: FileObject,
  position: number,
  directory: FileObject,
  name: string,
  counts: (above: FileObject) => boolean,
): boolean {
  for (const link of object.names.at(position)) {
    let at = link.directory;
    for (;;) {
      const [above] = at.names.at(position);
      if (above === undefined) break;
      if (above.directory === directory && above.name === name && counts(at)) return true;
      at = above.directory;
    }
  }
  return false;
}
