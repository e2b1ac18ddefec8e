import { traceFormats } from '../formats/table.js';
import { likelyFormat } from '../recognise.js';
import { TraceError, TraceErrorCode } from '../trace-error.js';
import { StraceLine } from './strace-line.js';
import { EXITED, type SystemTrace, type TracedCall } from './system-trace.js';

const NEWLINE = 10;
const RETURN = 13;
const SAMPLE_BYTES = 65_536;
const MAX_LINE_BYTES = 1 << 20;
const SHOWN = 200;
const PIECE = 4096;
const FORM =
  'Lines must look like those of "strace -f -ttt -T -o FILE": pid, time, call(arguments) = result <duration>.';

/** How the text of strace is read. */
export interface StraceOptions {
  /** What a line that cannot be read does: `fail` (default) throws, `skip` counts it and keeps the first message. */
  readonly badLines?: 'fail' | 'skip';
}

/** A call that was interrupted in the output by another thread's. */
interface Begun {
  readonly line: number;
  readonly name: string;
  readonly text: string;
  readonly startNs: number;
  readonly event: number;
}

/**
 * Reads the text of `strace`, pushed in chunks of any size: with or without pids (`-f`), times (`-t`, `-tt`, `-ttt`),
 * durations (`-T`) and descriptors' paths (`-y`, `-yy`). Interrupted calls are joined with their resumption.
 * Throws {@link TraceError}.
 */
export class StraceReader {
  private readonly file: string;
  private readonly skipBad: boolean;
  private readonly parts = new StraceLine();
  private readonly calls: TracedCall[] = [];
  /** As in `SystemTrace.order`; begins whose call has not ended yet are −1. */
  private readonly order: number[] = [];
  private readonly begun = new Map<number, Begun>();
  private readonly pids = new Set<number>();
  private pending: Uint8Array = new Uint8Array(0);
  private line = 0;
  private firstSec = -1;
  private timed = true;
  private unfinished = 0;
  private notes = 0;
  private badLines = 0;
  private firstBadLine: string | null = null;

  /** `file` is the name that errors show. */
  constructor(file: string, options: StraceOptions = {}) {
    const { badLines = 'fail' } = options;
    if (badLines !== 'fail' && badLines !== 'skip') {
      throw new TraceError(TraceErrorCode.option, `badLines must be fail or skip, found ${JSON.stringify(badLines)}`);
    }
    this.file = file;
    this.skipBad = badLines === 'skip';
  }

  /** Takes the next piece. The buffer may be reused afterwards. */
  push(chunk: Uint8Array): void {
    const bytes = new Uint8Array(this.pending.length + chunk.length);
    bytes.set(this.pending);
    bytes.set(chunk, this.pending.length);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.take(bytes, start, end, false);
      start = end + 1;
    }
    this.pending = bytes.slice(start);
    if (this.pending.length > MAX_LINE_BYTES) this.otherFormat(this.pending, 'a line has more than 1 MiB');
  }

  /** Takes the last line and returns the trace. */
  end(): SystemTrace {
    if (this.pending.length > 0) this.take(this.pending, 0, this.pending.length, true);
    for (const { event } of this.begun.values()) this.order[event] = -1;
    this.unfinished += this.begun.size;
    if (this.calls.length === 0) {
      throw new TraceError(TraceErrorCode.empty, `${this.file}: no system call is in the file`, [FORM]);
    }
    return {
      file: this.file,
      calls: this.calls,
      order: Int32Array.from(this.order.filter((event) => event >= 0)),
      threads: this.pids.size,
      timed: this.timed,
      unfinished: this.unfinished,
      notes: this.notes,
      badLines: this.badLines,
      firstBadLine: this.firstBadLine,
    };
  }

  private take(bytes: Uint8Array, start: number, lineEnd: number, last: boolean): void {
    this.line++;
    const end = lineEnd > start && bytes[lineEnd - 1] === RETURN ? lineEnd - 1 : lineEnd;
    if (end === start) return;
    const text = byteText(bytes, start, end);
    const parts = this.parts;
    parts.take(text);
    switch (parts.kind) {
      case 'call':
        this.order.push(this.add(parts, this.line, this.timeNs(parts)), 2 * this.calls.length - 1);
        break;
      case 'begin':
        this.begin(parts);
        break;
      case 'resume':
        this.resume(parts, text, last);
        break;
      case 'exit':
        this.exit(parts);
        break;
      case 'note':
        this.notes++;
        break;
      case 'relative':
        this.bad(text, 'times are relative to the line before (-r), which does not tell when calls of threads ran', [
          'Record with -ttt instead of -r.',
        ]);
        break;
      default:
        this.unknown(bytes, text, last);
    }
  }

  /** The call as it stands in `parts`; returns the event of its begin. */
  private add(parts: StraceLine, line: number, startNs: number): number {
    this.pids.add(parts.pid);
    this.calls.push({
      line,
      pid: parts.pid,
      name: parts.name,
      arguments: parts.arguments,
      result: parts.result,
      error: parts.error,
      startNs,
      endNs: startNs + parts.durationNs,
    });
    return 2 * (this.calls.length - 1);
  }

  private begin(parts: StraceLine): void {
    const { pid, name, rest } = parts;
    if (this.begun.has(pid)) this.forget(pid);
    const event = this.order.push(-1) - 1;
    this.begun.set(pid, { line: this.line, name, text: rest, startNs: this.timeNs(parts), event });
  }

  private resume(parts: StraceLine, text: string, last: boolean): void {
    const { pid, name, rest } = parts;
    const begun = this.begun.get(pid);
    if (begun?.name !== name) {
      const before = begun === undefined ? 'no call of it was interrupted' : `its ${begun.name} was interrupted`;
      this.bad(text, `${name} of thread ${pid} goes on, but ${before}`, [
        'Is the beginning of the trace missing? Skip such lines with badLines: skip.',
      ]);
      return;
    }
    // Resumed, and interrupted again or detached from: the call's end may still come.
    parts.takeCall(begun.text + rest);
    if (parts.kind === 'begin') {
      this.begun.set(pid, { ...begun, text: parts.rest });
      return;
    }
    this.begun.delete(pid);
    if (parts.kind !== 'call') {
      this.bad(text, `the call joined with line ${begun.line} cannot be read`, last ? [cut] : [FORM]);
      return;
    }
    this.order[begun.event] = this.add(parts, begun.line, begun.startNs);
    this.order.push(2 * this.calls.length - 1);
  }

  private exit(parts: StraceLine): void {
    if (this.begun.has(parts.pid)) this.forget(parts.pid);
    parts.name = EXITED;
    parts.arguments = [];
    parts.result = 0;
    parts.error = '';
    parts.durationNs = 0;
    this.order.push(this.add(parts, this.line, this.timeNs(parts)), 2 * this.calls.length - 1);
  }

  /** The thread died within a call, which ended without a result. */
  private forget(pid: number): void {
    this.begun.delete(pid);
    this.unfinished++;
  }

  private timeNs(parts: StraceLine): number {
    if (parts.sec < 0) {
      this.timed = false;
      return 0;
    }
    if (this.firstSec < 0) this.firstSec = parts.sec;
    return (parts.sec - this.firstSec) * 1e9 + parts.nsec;
  }

  private unknown(bytes: Uint8Array, text: string, last: boolean): void {
    if (this.calls.length === 0 && this.begun.size === 0) this.otherFormat(bytes, 'the first line is none of strace');
    if (last) this.bad(text, 'the file ends in the middle of a line: it was cut', [cut]);
    else this.bad(text, 'no system call', [FORM]);
  }

  private bad(text: string, message: string, hints: readonly string[]): void {
    const { file, line } = this;
    const shown = printable(text.slice(0, SHOWN));
    const full = `${file}:${line}:1: ${message}`;
    if (!this.skipBad) {
      const position = { file, line, column: 1, text: shown, from: 1, to: Math.max(1, shown.length) };
      throw new TraceError(TraceErrorCode.line, full, hints, position);
    }
    this.badLines++;
    this.firstBadLine ??= full;
  }

  private otherFormat(bytes: Uint8Array, why: string): never {
    const format = likelyFormat(bytes.subarray(0, SAMPLE_BYTES), traceFormats);
    const head = byteText(bytes, 0, Math.min(bytes.length, 80)).split('\n')[0];
    const hints = [`First line: ${printable(head)}`, FORM];
    if (format !== undefined)
      hints.unshift(
        `It looks like a block trace of format ${format.name}: read it with readTrace; in a spec, leave system out.`,
      );
    else if (/^% time +seconds/.test(head)) {
      hints.unshift('It looks like the summary that strace -c prints; record without -c.');
    }
    throw new TraceError(TraceErrorCode.format, `${this.file}: no trace of system calls: ${why}`, hints);
  }
}

/** Bytes as text, one UTF-16 unit each. */
function byteText(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, Math.min(to, at + PIECE)));
  }
  return text;
}

function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not reach a terminal
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ');
}

const cut = 'Copy the file again, or skip what cannot be read with badLines: skip.';
