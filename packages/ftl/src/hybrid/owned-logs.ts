import { type LogScheme, type SchemeParts, soleOwner } from './scheme.js';

/** Schemes in which every log block belongs to one logical block. */
export abstract class OwnedLogs implements LogScheme {
  protected readonly parts: SchemeParts;

  constructor(parts: SchemeParts) {
    this.parts = parts;
  }

  abstract frontier(domain: number, lbn: number, offset: number, lpn: number, sequential: boolean): number;
  abstract wrote(f: number): void;

  settling(): void {
    // Padding does no harm but that a merge may need copies.
  }

  adopt(domain: number, block: number): boolean {
    const { logs } = this.parts;
    const log = logs.spare(domain);
    const lbn = soleOwner(this.parts, block);
    if (log < 0 || lbn < 0 || logs.ofOwner[lbn] >= 0) return false;
    logs.adopt(log, block, lbn, 0);
    return true;
  }

  mergeAhead(domain: number): boolean {
    return this.parts.logs.spare(domain) < 0 && this.merge(this.victim(domain));
  }

  mergeAll(domain: number): boolean {
    const { logs } = this.parts;
    while (logs.used[domain] > 0) if (!this.merge(this.victim(domain))) return false;
    return true;
  }

  broken(): string | null {
    const { logs } = this.parts;
    for (let log = 0; log < logs.block.length; log++) {
      const block = logs.block[log];
      if (block < 0) continue;
      if (logs.ofOwner[logs.owner[log]] !== log) return `log block ${block} is not that of its logical block`;
      if (logs.valid(log) > 0 && soleOwner(this.parts, block) !== logs.owner[log]) {
        return `log block ${block} holds slots of another logical block than its own`;
      }
    }
    return null;
  }

  reset(): void {
    // Log blocks and their owners are all there is.
  }

  /** Merges a log block; false if there is no room for it now. */
  protected merge(log: number): boolean {
    const { logs, merger } = this.parts;
    const owner = logs.owner[log];
    if (logs.valid(log) === 0) merger.release(log);
    else if (!merger.install(log)) return merger.full(owner);
    return true;
  }

  /** The log block of the domain that was written longest ago; −1 if there is none. */
  protected victim(domain: number): number {
    return this.parts.logs.leastRecent(domain, -1);
  }
}
