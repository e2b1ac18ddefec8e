import type { ByteSink } from '../byte-sink.js';

/** What happened to a request, by the numbers of linux/blktrace_api.h. */
export const BlockAction = {
  /** Came in (Q). */
  queue: 1,
  /** Became the end (M) or the front (F) of another. */
  backMerge: 2,
  frontMerge: 3,
  /** Became a request of its own (G). */
  request: 4,
  /** Went to the device (D), and came back (C). */
  issue: 7,
  complete: 8,
  /** The first one is held back (P); what was held back goes on (U). */
  plug: 9,
  unplug: 10,
  /** Waits for the device (I). */
  insert: 12,
  /** Was cut (X). */
  split: 13,
} as const;

/** Bits that tell of the kind of a request and of what happened, in the high half of the action word. */
export const BlockCategory = {
  read: 0x1,
  write: 0x2,
  flush: 0x4,
  sync: 0x8,
  queue: 0x10,
  issue: 0x40,
  complete: 0x80,
  /** From a file system or program; set for whole requests, not for what is about to become one. */
  fileSystem: 0x100,
  packet: 0x200,
  notify: 0x400,
  ahead: 0x800,
  meta: 0x1000,
  discard: 0x2000,
  fua: 0x8000,
} as const;

/** First word of a binary record; the version stands in its lowest byte. */
export const BLKTRACE_MAGIC = 0x65617400;
/** The version that is known. */
export const BLKTRACE_VERSION = 7;

/** One row of a block trace. Mutable and reused. */
export class BlockEvent {
  /** A `BlockAction`. */
  action = 0;
  /** `BlockCategory` bits of the kind of the request. */
  category = 0;
  /** Since the start of the trace, ns. */
  timeNs: number;
  /** First sector of 512 bytes. */
  sector: number;
  /** Length. */
  bytes = 0;
  /** Number of the thread that ran then; 0: none. */
  pid = 0;
  /** What the tools print for the thread. */
  name = '';
  /** Device number: the major one times 2^20, and the minor one. */
  device = 0;
  /** Completions: an error number of Linux, 0 for success. */
  error = 0;
  /** Cuts: the sector at which the rest begins. Unplugging: requests that go on. */
  detail: number;

  constructor() {
    // Start as a non-integer, so that the engine stores these fields as unboxed doubles from the beginning.
    this.timeNs = Number.NaN;
    this.sector = Number.NaN;
    this.detail = Number.NaN;
    this.timeNs = 0;
    this.sector = 0;
    this.detail = 0;
  }
}

/** Writes rows of block traces. */
export interface BlockEventWriter {
  /** A thread that rows will name. */
  thread(pid: number, name: string, timeNs: number, sink: ByteSink): void;
  /** A line of text at this time, where the format can say which. */
  message(text: string, device: number, timeNs: number, sink: ByteSink): void;
  event(event: BlockEvent, sink: ByteSink): void;
}

const { queue, issue, complete, fileSystem, notify } = BlockCategory;
/** Bits that say what happened, by action. */
const HAPPENED: readonly number[] = actionTable(0, {
  queue,
  backMerge: queue,
  frontMerge: queue,
  request: queue,
  issue: issue | fileSystem,
  complete: complete | fileSystem,
  plug: queue,
  unplug: queue,
  insert: queue | fileSystem,
  split: 0,
});
const LETTERS: readonly string[] = actionTable('', {
  queue: 'Q',
  backMerge: 'M',
  frontMerge: 'F',
  request: 'G',
  issue: 'D',
  complete: 'C',
  plug: 'P',
  unplug: 'U',
  insert: 'I',
  split: 'X',
});
const NOTIFY_THREAD = 0;
const NOTIFY_MESSAGE = 2;
const NAME_BYTES = 16;
const SECTOR_BYTES = 512;
const SECOND_NS = 1_000_000_000;
const SPACE = 32;

function actionTable<T>(none: T, entries: Readonly<Record<keyof typeof BlockAction, T>>): T[] {
  const table: T[] = new Array<T>(BlockAction.split + 1).fill(none);
  for (const [name, value] of Object.entries(entries)) table[BlockAction[name as keyof typeof BlockAction]] = value;
  return table;
}

/** Binary records, little-endian. */
export class BlktraceEventWriter implements BlockEventWriter {
  private sequence = 0;

  thread(pid: number, name: string, timeNs: number, sink: ByteSink): void {
    this.header(0, timeNs, 0, 0, NOTIFY_THREAD + notify * 65536, pid, 0, 0, NAME_BYTES, sink);
    for (let at = 0; at < NAME_BYTES; at++) sink.byte(at < NAME_BYTES - 1 ? latin1At(name, at) : 0);
  }

  message(text: string, device: number, timeNs: number, sink: ByteSink): void {
    this.header(0, timeNs, 0, 0, NOTIFY_MESSAGE + notify * 65536, 0, device, 0, text.length, sink);
    sink.ascii(text);
  }

  event({ action, category, timeNs, sector, bytes, pid, device, error, detail }: BlockEvent, sink: ByteSink): void {
    const word = action + (category | HAPPENED[action]) * 65536;
    const detailed = action === BlockAction.unplug || action === BlockAction.split;
    this.header(++this.sequence, timeNs, sector, bytes, word, pid, device, error, detailed ? 8 : 0, sink);
    if (detailed) sink.u64BigEndian(detail);
  }

  private header(
    sequence: number,
    timeNs: number,
    sector: number,
    bytes: number,
    word: number,
    pid: number,
    device: number,
    error: number,
    rest: number,
    sink: ByteSink,
  ): void {
    sink.u32(BLKTRACE_MAGIC + BLKTRACE_VERSION);
    sink.u32(sequence);
    sink.u64(timeNs);
    sink.u64(sector);
    sink.u32(bytes);
    sink.u32(word);
    sink.u32(pid);
    sink.u32(device);
    sink.u32(0);
    // The kernel keeps the low half of the negative number.
    sink.u16(error === 0 ? 0 : 65536 - error);
    sink.u16(rest);
  }
}

function latin1At(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) & 0xff : 0;
}

/** The lines that blkparse prints by default, column by column. */
export class BlkparseEventWriter implements BlockEventWriter {
  private sequence = 0;

  thread(): void {
    // Each line has the name of its thread.
  }

  message(text: string, device: number, timeNs: number, sink: ByteSink): void {
    this.head(device, 0, timeNs, 0, ' m', sink);
    sink.ascii('  N ');
    sink.ascii(text);
    sink.byte(10);
  }

  event(event: BlockEvent, sink: ByteSink): void {
    const { action, bytes, name, error } = event;
    this.head(event.device, ++this.sequence, event.timeNs, event.pid, LETTERS[action], sink);
    kind(event.category, bytes, sink);
    sink.byte(SPACE);
    if (action === BlockAction.split) {
      sink.uint(event.sector);
      sink.ascii(' / ');
      sink.uint(event.detail);
    } else if (bytes > 0 || action === BlockAction.complete) {
      sink.uint(event.sector);
      if (bytes > 0) {
        sink.ascii(' + ');
        sink.uint(bytes / SECTOR_BYTES);
      }
    }
    if (action === BlockAction.split || bytes > 0 || action === BlockAction.complete) sink.byte(SPACE);
    sink.byte(91);
    if (action === BlockAction.complete) sink.uint(error === 0 ? 0 : 65536 - error);
    else sink.ascii(name);
    sink.byte(93);
    if (action === BlockAction.unplug) {
      sink.byte(SPACE);
      sink.uint(event.detail);
    }
    sink.byte(10);
  }

  private head(device: number, sequence: number, timeNs: number, pid: number, letter: string, sink: ByteSink): void {
    const minor = device % 2 ** 20;
    sink.spaced(Math.floor(device / 2 ** 20), 3);
    sink.byte(44);
    sink.uint(minor);
    for (let digits = minor < 10 ? 1 : minor < 100 ? 2 : 3; digits < 3; digits++) sink.byte(SPACE);
    sink.ascii('  0 ');
    sink.spaced(sequence, 8);
    sink.byte(SPACE);
    const seconds = Math.floor(timeNs / SECOND_NS);
    sink.spaced(seconds, 5);
    sink.byte(46);
    sink.padded(timeNs - seconds * SECOND_NS, 9);
    sink.byte(SPACE);
    sink.spaced(pid, 5);
    sink.byte(SPACE);
    if (letter.length === 1) sink.byte(SPACE);
    sink.ascii(letter);
    sink.byte(SPACE);
  }
}

/** The letters of RWBS, at least three columns wide: F, one of D W R N, then F, A, S and M. */
function kind(category: number, bytes: number, sink: ByteSink): void {
  const { flush, write, discard, fua, ahead, sync, meta } = BlockCategory;
  let letters = 1;
  for (const bit of [flush, fua, ahead, sync, meta]) if ((category & bit) !== 0) letters++;
  for (; letters < 3; letters++) sink.byte(SPACE);
  if ((category & flush) !== 0) sink.byte(70);
  if ((category & discard) !== 0) sink.byte(68);
  else if ((category & write) !== 0) sink.byte(87);
  else sink.byte(bytes > 0 ? 82 : 78);
  if ((category & fua) !== 0) sink.byte(70);
  if ((category & ahead) !== 0) sink.byte(65);
  if ((category & sync) !== 0) sink.byte(83);
  if ((category & meta) !== 0) sink.byte(77);
}
