import { closingParenthesis, splitArguments } from './arguments.js';

const PREFIX = /^(?:\[pid +(\d+)\] +|(\d{1,7}) +)?(?:(\d\d):(\d\d):(\d\d)(\.\d+)? +|(\d{9,})(\.\d+)? +)?/;
const RELATIVE = /^ *(?:\[pid +\d+\] +|\d{1,7} +)?\d{1,8}\.\d{3,9} /;
const RESUMED = /^<\.\.\. ([a-z0-9_]+) resumed> ?/;
const NAME = /^([a-z_][a-z0-9_]*)\(/;
const RESULT = /^ *= (0x[0-9a-f]+|-?\d+|\?)/;
const ERROR = /^ (E[A-Z0-9_]+)/;
const DURATION = /<(\d+)\.(\d{6,9})>$/;
const UNFINISHED = /(?: |^)<(?:unfinished|detached) \.\.\.>$/;
const DAY_SEC = 86_400;

/** What a line of strace is. */
export type StraceLineKind = 'call' | 'begin' | 'resume' | 'exit' | 'note' | 'relative' | 'unknown';

/** The parts of one line. Reused: each `take` overwrites what the last one found. */
export class StraceLine {
  kind: StraceLineKind = 'unknown';
  /** The thread, or 0. */
  pid = 0;
  /** Time in whole seconds, and the rest in ns; `sec` is −1 without a time. */
  sec = -1;
  nsec = 0;
  /** `call`, `begin`, `resume`: name of the call. */
  name = '';
  /** `call`: the arguments. */
  arguments: readonly string[] = [];
  /** `call`: the result, NaN if unknown. */
  result: number = Number.NaN;
  error = '';
  /** `call`: ns, 0 if the line has none. */
  durationNs = 0;
  /** `begin`: the line up to where it was interrupted; `resume`: what goes on after it. */
  rest = '';
  private days = 0;
  private lastSec = -1;

  /** Takes a line apart. `carried` is what stood before the resumed rest of a call. */
  take(line: string): void {
    const prefix = PREFIX.exec(line) as RegExpExecArray;
    this.pid = Number(prefix[1] ?? prefix[2] ?? 0);
    this.readTime(prefix);
    const text = line.slice(prefix[0].length);
    const resumed = RESUMED.exec(text);
    if (resumed !== null) {
      this.kind = 'resume';
      this.name = resumed[1];
      this.rest = text.slice(resumed[0].length);
    } else if (text.startsWith('+++ ') && text.endsWith(' +++')) {
      this.kind = 'exit';
    } else if (/^(--- .* ---|strace: .*)$/.test(text)) {
      this.kind = 'note';
    } else if (RELATIVE.test(line)) {
      this.kind = 'relative';
    } else {
      this.takeCall(text);
    }
  }

  /** Takes a call without what stands before it: name, arguments, result, duration. */
  takeCall(text: string): void {
    this.kind = 'unknown';
    const name = NAME.exec(text);
    if (name === null) return;
    this.name = name[1];
    if (UNFINISHED.test(text)) {
      this.kind = 'begin';
      this.rest = text.replace(UNFINISHED, '');
      return;
    }
    const end = closingParenthesis(text, name[0].length);
    if (end < 0) return;
    const result = RESULT.exec(text.slice(end + 1));
    if (result === null) return;
    const after = text.slice(end + 1 + result[0].length);
    const duration = DURATION.exec(after);
    this.kind = 'call';
    this.arguments = splitArguments(text.slice(name[0].length, end));
    this.result = result[1] === '?' ? Number.NaN : Number(result[1]);
    this.error = ERROR.exec(after)?.[1] ?? '';
    this.durationNs = duration === null ? 0 : Number(duration[1]) * 1e9 + Number(duration[2].padEnd(9, '0'));
  }

  private readTime(prefix: RegExpExecArray): void {
    const [, , , hours, minutes, seconds, clockFraction, epoch, epochFraction] = prefix;
    const fraction = clockFraction ?? epochFraction;
    this.nsec = fraction === undefined ? 0 : Number(fraction.slice(1, 10).padEnd(9, '0'));
    if (epoch !== undefined) {
      this.sec = Number(epoch);
    } else if (hours !== undefined) {
      const sec = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
      // A clock without a date: it went over midnight if it stands half a day earlier than before.
      if (sec < this.lastSec - DAY_SEC / 2) this.days++;
      this.lastSec = sec;
      this.sec = this.days * DAY_SEC + sec;
    } else {
      this.sec = -1;
    }
  }
}
