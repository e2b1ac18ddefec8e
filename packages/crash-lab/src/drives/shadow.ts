import type { Violation } from '../judge/violation.js';
import type { BufferPromise } from './drive.js';
import { SectorState } from './sector.js';

/** One content that a sector was given; 0: zeroes, by a trim or a write of zeroes. */
interface Version {
  readonly version: number;
  readonly isTrim: boolean;
  completed: number;
  /** It, or something newer, must survive. */
  durable: boolean;
  /** Made so by a flush or FUA, not by the buffer alone. */
  flushed: boolean;
}

/** A write, trim or write of zeroes on its way. */
export interface Change {
  readonly versions: readonly Version[];
}

/** All contents that each sector of a drive may have, naively: a list of versions per sector, in order of submission. */
export class DriveShadow {
  readonly sectors: number;
  private readonly promise: BufferPromise;
  private readonly versions: Version[][];
  private clock = 0;

  constructor(sectors: number, promise: BufferPromise) {
    this.sectors = sectors;
    this.promise = promise;
    this.versions = Array.from({ length: sectors }, () => [known(0)]);
  }

  /** A request is submitted: the present moment. */
  submitted(): number {
    return ++this.clock;
  }

  /** A request that gives sectors new contents, `version` 0: zeroes. */
  change(first: number, count: number, version: number, isTrim: boolean): Change {
    const versions: Version[] = [];
    for (let lpn = first; lpn < first + count; lpn++) {
      const entry = { version, isTrim, completed: Number.POSITIVE_INFINITY, durable: false, flushed: false };
      this.versions[lpn].push(entry);
      versions.push(entry);
    }
    return { versions };
  }

  /** It is done. `fua`: durable by its own flag. */
  completed({ versions }: Change, fua: boolean): void {
    this.clock++;
    for (const entry of versions) {
      entry.completed = this.clock;
      if (fua) {
        entry.durable = true;
        entry.flushed = true;
      }
    }
  }

  /** A flush (or preflush) that was submitted at a moment is done: what had completed before is durable. */
  flushed(submitted: number): void {
    for (const list of this.versions) {
      for (const entry of list) {
        if (entry.completed >= submitted) continue;
        entry.durable = true;
        entry.flushed = true;
      }
    }
  }

  /** Power is lost. */
  cut(): void {
    if (this.promise !== 'protected') return;
    for (const list of this.versions) {
      for (const entry of list) entry.durable ||= entry.completed < Number.POSITIVE_INFINITY;
    }
  }

  /** After a power cut: what a sector shows must be one of its contents that nothing durable replaces. It stays from now on. */
  settle(lpn: number, found: number): Violation | null {
    const list = this.versions[lpn];
    let last = list.length - 1;
    while (last > 0 && !list[last].durable) last--;
    const matches = list.findLastIndex((entry) => entry.version === found && found >= 0);
    this.versions[lpn] = [known(Math.max(found, 0))];
    if (matches >= last) return null;
    return violationOf(lpn, found, list, last, matches);
  }

  /** Without a power cut: a sector shows what was submitted last. */
  same(lpn: number, found: number): Violation | null {
    const list = this.versions[lpn];
    const { version } = list[list.length - 1];
    if (version === found) return null;
    return { rule: 'D9 usable', path: `sector ${lpn}`, text: `shows ${nameOf(found)}, was given ${nameOf(version)}` };
  }
}

function violationOf(lpn: number, found: number, list: readonly Version[], last: number, matches: number): Violation {
  const kept = list[last];
  const text = `shows ${nameOf(found)}, ${nameOf(kept.version)} was ${kept.flushed ? 'flushed' : 'acknowledged'}`;
  const path = `sector ${lpn}`;
  if (found === SectorState.torn) return { rule: 'D3 torn', path, text };
  if (found === SectorState.foreign || matches < 0) return { rule: 'D4 foreign', path, text };
  if (kept.isTrim) return { rule: 'D6 trim', path, text };
  return { rule: kept.flushed ? 'D1 flush' : 'D2 protected', path, text };
}

function known(version: number): Version {
  return { version, isTrim: false, completed: 0, durable: true, flushed: true };
}

function nameOf(found: number): string {
  if (found === SectorState.torn) return 'parts of several contents';
  if (found === SectorState.foreign) return 'the contents of another sector';
  return found === 0 ? 'zeroes' : `version ${found}`;
}
