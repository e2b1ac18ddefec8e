import { MemoryDevice, Origin } from '@flashstack/block-device';
import { amountAdvice, parseAmount } from '@flashstack/experiment';
import { loadModules } from '@flashstack/experiment/node';
import { LEAST_MEMORY_BYTES, LinuxPageCache, PageMemory, type ReadaheadPolicy } from '@flashstack/pagecache-readahead';
import {
  lookupStrategy,
  RandomSource,
  type RandomStream,
  resolveParameters,
  runTask,
  Simulator,
  unknownName,
} from '@flashstack/sim';
import { FileAdvice, FileKind, Inode, PAGE_BYTES } from '@flashstack/vfs';
import { knownNames } from './known-names.js';
import { parseSettings } from './option-flags.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import { table, wrap } from './terminal.js';

const LIMIT = 80;
/** Cells for the runs of pages that a request has fetched; what does not fit is counted. */
const RUNS_WIDTH = 34;
const MOST_READS = 1_000_000;

/** Options of `readahead-sim`, as typed. */
export interface ReadaheadFlags {
  readonly policy: string;
  readonly module?: readonly string[];
  readonly set?: readonly string[];
  readonly fileSize: string;
  readonly reads: readonly string[];
  readonly readAhead: string;
  readonly requestSize: string;
  readonly advice: string;
  readonly memory?: string;
  readonly seed: string;
  readonly json?: boolean;
}

interface Read {
  readonly offset: number;
  readonly length: number;
}

type Run = readonly [first: number, count: number];

/** What one request led to, in pages. */
interface Outcome extends Read {
  readonly pages: number;
  readonly hits: number;
  readonly fetched: readonly Run[];
}

interface Totals {
  readonly pages: number;
  readonly hits: number;
  readonly fetched: number;
  readonly requests: number;
  /** Fetched and never read. */
  readonly unread: number;
}

/** The size of the largest file. */
const MOST_FILE_BYTES = 2 ** 40;

/** Reads that reach beyond the end of the file: those of which a part is left, and those of which nothing is. */
interface Beyond {
  readonly cut: number;
  readonly empty: number;
}

/** `flashstack readahead-sim`: what a read-ahead policy fetches for a list of reads, on a device that answers at once. */
export async function runReadahead(flags: ReadaheadFlags, session: Session): Promise<void> {
  const fileBytes = amount('--file-size', flags.fileSize, 1);
  if (fileBytes > MOST_FILE_BYTES) {
    throw new UsageError(
      `--file-size is "${flags.fileSize}", expected at most 1TiB: what becomes of each page is kept.`,
    );
  }
  const random = new RandomSource(wholeNumber('--seed', flags.seed)).stream('reads');
  const reads = flags.reads.flatMap((text) => parseReads(text, fileBytes, random));
  const raPages = amount('--read-ahead', flags.readAhead, 0) / PAGE_BYTES;
  const ioPages = amount('--request-size', flags.requestSize, 0) / PAGE_BYTES;
  const limits = { raPages: Math.floor(raPages), ioPages: Math.floor(ioPages) };
  const beyond = beyondEnd(reads, fileBytes);
  const file = new SimulatedFile(await policyOf(flags), flags, fileBytes, limits);
  const outcomes = reads.map((read) => file.read(read));
  const totals = totalsOf(outcomes, file.unread());
  const { policy } = flags;
  if (flags.json === true) {
    const steps = outcomes.map(({ offset, length, pages, hits, fetched }) => ({
      offset,
      length,
      pages,
      hits,
      fetched,
    }));
    session.print(`${JSON.stringify({ policy, fileBytes, ...limits, reads: steps, totals, beyond }, null, 1)}\n`);
  } else {
    session.print(`${render(policy, fileBytes, limits, outcomes, totals, beyond, session).join('\n')}\n`);
  }
}

/** The policy that is named, of the modules too, with the parameters that are given. */
async function policyOf({ policy, module = [], set = [] }: ReadaheadFlags): Promise<ReadaheadPolicy> {
  const { readaheads } = await loadModules(module, '.', knownNames);
  const kind = lookupStrategy(readaheads, policy, 'read-ahead policy');
  return kind.create(resolveParameters(kind, parseSettings('--set', set)));
}

/**
 * Reads that the end of the file cuts, as it cuts those of Linux.
 * @throws UsageError if nothing is left of any.
 */
function beyondEnd(reads: readonly Read[], fileBytes: number): Beyond {
  const empty = reads.filter(({ offset }) => offset >= fileBytes).length;
  if (empty < reads.length) {
    return { cut: reads.filter(({ offset, length }) => offset + length > fileBytes).length - empty, empty };
  }
  throw new UsageError(`--reads has nothing inside the file, which has ${fileBytes} bytes.`, [
    'Give smaller offsets, or a larger file by --file-size.',
  ]);
}

/** One file in a page cache over a device that takes no time, and the requests that reach its file system. */
class SimulatedFile {
  private readonly simulator: Simulator = new Simulator();
  private readonly cache: LinuxPageCache;
  private readonly inode: Inode;
  private readonly reader: object;
  private readonly used: Uint8Array;
  private readonly everFetched: Uint8Array;
  private fetched: Run[] = [];

  constructor(
    policy: ReadaheadPolicy,
    flags: ReadaheadFlags,
    fileBytes: number,
    limits: { raPages: number; ioPages: number },
  ) {
    const pages = Math.ceil(fileBytes / PAGE_BYTES);
    // Without a limit nothing is ever evicted.
    const memoryBytes = flags.memory === undefined ? fileBytes + 2 ** 24 : memoryOf(flags.memory);
    const memory = new PageMemory(this.simulator, { memoryBytes });
    const features = { fua: false, volatileCache: false, discard: false, atomicBlocks: 1, keeps: 'nothing' } as const;
    this.cache = new LinuxPageCache(memory, new MemoryDevice({ blockCount: pages, features }), { policy, limits });
    this.cache.attach({
      readPages: (_inode, first, count, io) => {
        this.fetched.push([first, count]);
        this.everFetched.fill(1, first, first + count);
        io.read(first * PAGE_BYTES, count * PAGE_BYTES, first, Origin.fileData);
        return 0;
      },
      writePages: () => {
        throw new Error('nothing is written here');
      },
    });
    this.inode = new Inode(this.simulator, 1, FileKind.regular);
    this.inode.size = fileBytes;
    this.used = new Uint8Array(pages);
    this.everFetched = new Uint8Array(pages);
    this.reader = this.cache.reader(this.inode);
    this.cache.advise(this.inode, this.reader, 0, 0, adviceOf(flags.advice));
  }

  read({ offset, length }: Read): Outcome {
    const { cache, inode } = this;
    this.fetched = [];
    const mapping = cache.mapping(inode);
    const first = Math.floor(offset / PAGE_BYTES);
    const end = offset < inode.size ? Math.ceil(Math.min(offset + length, inode.size) / PAGE_BYTES) : first;
    let hits = 0;
    for (let page = first; page < end; page++) if (mapping.isCached(page)) hits++;
    const read = cache.read(inode, this.reader, offset, length, null);
    if (typeof read !== 'number') runTask(this.simulator, read);
    this.used.fill(1, first, end);
    return { offset, length, pages: end - first, hits, fetched: this.fetched };
  }

  /** Pages that have been fetched and never read. */
  unread(): number {
    return this.everFetched.reduce((sum, fetched, page) => sum + (fetched === 1 && this.used[page] === 0 ? 1 : 0), 0);
  }
}

function adviceOf(name: string): number {
  if (name === 'normal') return FileAdvice.normal;
  if (name === 'sequential') return FileAdvice.sequential;
  if (name === 'random') return FileAdvice.random;
  throw unknownName('--advice', name, ['normal', 'sequential', 'random']);
}

/** `OFFSET:LENGTH`, `OFFSET:LENGTHxCOUNT`, `OFFSET:LENGTHxCOUNT+STRIDE`, `random:LENGTHxCOUNT`; several with commas. */
function parseReads(text: string, fileBytes: number, random: RandomStream): Read[] {
  return text.split(',').flatMap((part) => parsePart(part.trim(), fileBytes, random));
}

function parsePart(part: string, fileBytes: number, random: RandomStream): Read[] {
  const match = /^([^:]+):([^x+]+)(?:x([^+]+)(?:\+(.+))?)?$/.exec(part);
  if (match === null) throw malformed(part, 'it is not of that form');
  const [, where, size, times = '1', step] = match;
  const length = sizeIn(part, size);
  const count = Number(times);
  if (!(length > 0)) throw malformed(part, `"${size}" is no length`);
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST_READS) {
    throw malformed(part, `"${times}" is no count from 1 to ${MOST_READS}`);
  }
  if (where === 'random') {
    const slots = Math.floor(fileBytes / length);
    if (step !== undefined) throw malformed(part, 'random reads have no stride');
    if (slots === 0) throw malformed(part, `the file has ${fileBytes} bytes, less than one read of ${length}`);
    return Array.from({ length: count }, () => ({ offset: random.below(slots) * length, length }));
  }
  const offset = sizeIn(part, where);
  const stride = step === undefined ? length : sizeIn(part, step);
  return Array.from({ length: count }, (_, at) => ({ offset: offset + at * stride, length }));
}

function sizeIn(part: string, text: string): number {
  const value = parseAmount('size', text);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformed(part, `"${text}" is no size such as 4KiB`, [amountAdvice('size', text)]);
}

function malformed(part: string, why: string, advice: readonly string[] = []): UsageError {
  return new UsageError(`--reads has "${part}": ${why}.`, [
    ...advice,
    'Expected OFFSET:LENGTH, OFFSET:LENGTHxCOUNT for reads in order, OFFSET:LENGTHxCOUNT+STRIDE, or random:LENGTHxCOUNT, ' +
      'such as 0:4KiBx32, 0:4KiBx16+8KiB or random:4KiBx100; several with commas.',
  ]);
}

function amount(flag: string, text: string, least: number): number {
  const value = parseAmount('size', text);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`${flag} is "${text}", expected a whole size such as 5MiB.`, [amountAdvice('size', text)]);
}

function memoryOf(text: string): number {
  const bytes = amount('--memory', text, 1);
  if (bytes >= LEAST_MEMORY_BYTES) return bytes;
  const least = `${LEAST_MEMORY_BYTES / 2 ** 20}MiB`;
  throw new UsageError(`--memory is "${text}", expected at least ${least}: a page cache cannot work with less.`);
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && text.trim() !== '') return value;
  throw new UsageError(`${flag} is "${text}", expected a whole number.`);
}

function totalsOf(outcomes: readonly Outcome[], unread: number): Totals {
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  return {
    pages: sum(({ pages }) => pages),
    hits: sum(({ hits }) => hits),
    fetched: sum(({ fetched }) => fetched.reduce((total, [, count]) => total + count, 0)),
    requests: sum(({ fetched }) => fetched.length),
    unread,
  };
}

function render(
  policy: string,
  fileBytes: number,
  limits: { readonly raPages: number; readonly ioPages: number },
  outcomes: readonly Outcome[],
  totals: Totals,
  beyond: Beyond,
  { style }: Session,
): string[] {
  const { numbers } = style;
  const rows = outcomes.map(({ offset, length, pages, hits, fetched }) => [
    String(offset),
    String(length),
    String(pages),
    String(hits),
    String(fetched.reduce((sum, [, count]) => sum + count, 0)),
    runsText(fetched),
  ]);
  const lines = table([['offset', 'bytes', 'pages', 'hit', 'fetched', 'as first page + count'], ...rows], 'rrrrrl');
  const summary =
    `${numbers.counted(totals.pages, 'page')} asked for in ${numbers.counted(outcomes.length, 'read')}: ` +
    `${numbers.count(totals.hits)} hit, ${numbers.count(totals.fetched)} fetched in ` +
    `${numbers.counted(totals.requests, 'request')}, ${numbers.count(totals.unread)} of them never read.`;
  const about =
    `Window of ${numbers.counted(limits.raPages, 'page')}, requests of the device of ` +
    `${numbers.counted(limits.ioPages, 'page')}; pages are 4 KiB. A page is hit that was cached before its read began.`;
  return [
    style.tone('strong', `Read-ahead of ${policy} on a file of ${numbers.bytes(fileBytes)}`),
    '',
    style.tone('dim', lines[0]),
    ...lines.slice(1),
    '',
    ...wrap(summary, LIMIT),
    ...wrap(beyondText(beyond, fileBytes, numbers), LIMIT),
    ...wrap(about, LIMIT).map((line) => style.tone('dim', line)),
  ];
}

function beyondText({ cut, empty }: Beyond, fileBytes: number, numbers: Session['style']['numbers']): string {
  if (cut + empty === 0) return '';
  const parts = [];
  if (cut > 0) parts.push(`${numbers.counted(cut, 'read')} cut there`);
  if (empty > 0) parts.push(`${numbers.counted(empty, 'read')} behind it that found nothing`);
  return `The file ends at byte ${numbers.count(fileBytes)}: ${parts.join(', ')}, as Linux does it.`;
}

function runsText(runs: readonly Run[]): string {
  const texts = runs.map(([first, count]) => `${first}+${count}`);
  let shown = '';
  for (const [at, text] of texts.entries()) {
    const next = shown === '' ? text : `${shown} ${text}`;
    const rest = texts.length - at - 1;
    if (next.length + (rest > 0 ? ` … ${rest} more`.length : 0) > RUNS_WIDTH && at > 0) {
      return `${shown} … ${texts.length - at} more`;
    }
    shown = next;
  }
  return shown;
}
