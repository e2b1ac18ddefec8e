import { blocksIn, checksumIn, checksumOf, type JournalHeader, kindOf, RecordKind } from './journal-records.js';
import type { Layout } from './layout.js';
import { type Planted, SOUND } from './planted.js';

/** What the complete transactions of a journal say. */
export interface Replay {
  /** Contents of blocks. */
  readonly places: Map<number, Uint8Array>;
  readonly transactions: number;
  /** Where the next transaction belongs. */
  readonly next: JournalHeader;
}

/** Reads all complete transactions of a journal from where its header says on; `log`: its blocks. */
export function replay(
  log: readonly Uint8Array[],
  layout: Layout,
  header: JournalHeader,
  planted: Planted = SOUND,
): Replay {
  const places = new Map<number, Uint8Array>();
  let { tid, position } = header;
  const most = planted.has('replay-one') ? 1 : layout.journalBlocks;
  let transactions = 0;
  while (transactions < most) {
    const found = readTransaction(log, layout, tid, position, planted.has('checksum-ignored'));
    if (found === null) break;
    for (const [block, bytes] of found.writes) {
      if (!planted.has('replay-oldest') || !places.has(block)) places.set(block, bytes);
    }
    position = found.next;
    tid++;
    transactions++;
  }
  return { places, transactions, next: { tid, position } };
}

/** The blocks of a complete transaction at a position, and where the next one begins; null: there is none. */
function readTransaction(
  log: readonly Uint8Array[],
  layout: Layout,
  tid: number,
  start: number,
  trusting: boolean,
): { readonly writes: [number, Uint8Array][]; readonly next: number } | null {
  const writes: [number, Uint8Array][] = [];
  const seen: Uint8Array[] = [];
  let position = start;
  const take = (): Uint8Array => {
    const bytes = log[position];
    position = position + 1 === layout.journalBlocks ? 1 : position + 1;
    return bytes;
  };
  while (seen.length < layout.journalBlocks) {
    const bytes = take();
    const kind = kindOf(bytes, tid);
    if (kind === RecordKind.commit) {
      return trusting || checksumIn(bytes) === checksumOf(seen) ? { writes, next: position } : null;
    }
    if (kind !== RecordKind.descriptor) return null;
    seen.push(bytes);
    for (const block of blocksIn(bytes)) {
      if (block < layout.bitmapStart || block >= layout.blocks || seen.length >= layout.journalBlocks) return null;
      const copy = take();
      seen.push(copy);
      writes.push([block, copy]);
    }
  }
  return null;
}
