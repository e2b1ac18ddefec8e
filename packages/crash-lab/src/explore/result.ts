import { IdentitySet } from '@flashstack/block-device/crash';
import { InputError } from '@flashstack/sim';
import type { CrashCase } from './crash-case.js';

/** What an exploration has done, in numbers that are never rounded. */
export interface CrashCounts {
  workloads: number;
  /** Images of power cuts, equal ones counted each time. */
  tried: number;
  /** Images that were recovered, equal ones of one workload once. */
  recovered: number;
  /** Of those, images of power cuts during recovery, and during the recovery from such a one. */
  second: number;
  third: number;
  /** Trees that were read and judged: recovered states and what is allowed for them. */
  judged: number;
  /** Images that violate something. */
  lost: number;
}

/** What was found, but for its cases, as plain values; identities of 64 bits in hexadecimal. */
export interface CrashSummary {
  readonly counts: Readonly<CrashCounts>;
  readonly byRule: Readonly<Record<string, number>>;
  readonly unique: { readonly images: number; readonly states: number };
  readonly images: string;
  readonly states: string;
}

/** Cases that are kept of each rule. */
const KEPT_CASES = 20;

/** What an exploration, or several shards of one, have found. */
export class CrashResult {
  readonly counts: CrashCounts = { workloads: 0, tried: 0, recovered: 0, second: 0, third: 0, judged: 0, lost: 0 };
  /** Images by what they violate first: rule to number. */
  readonly byRule: Map<string, number> = new Map();
  /** Different images, and different states after recovery. */
  readonly images: IdentitySet = new IdentitySet();
  readonly states: IdentitySet = new IdentitySet();
  /** The first cases of each rule, one for a workload. */
  readonly cases: CrashCase[] = [];

  /** An image is lost. */
  add(found: CrashCase): void {
    const { rule } = found.violation;
    this.counts.lost++;
    const before = this.byRule.get(rule) ?? 0;
    this.byRule.set(rule, before + 1);
    const workload = JSON.stringify(found.workload);
    const same = this.cases.filter((one) => one.violation.rule === rule);
    if (same.length >= KEPT_CASES || same.some((one) => JSON.stringify(one.workload) === workload)) return;
    this.cases.push(found);
  }

  /** Adds what another shard has found. */
  merge(other: CrashResult): void {
    for (const name of Object.keys(this.counts) as (keyof CrashCounts)[]) this.counts[name] += other.counts[name];
    for (const [rule, number] of other.byRule) this.byRule.set(rule, (this.byRule.get(rule) ?? 0) + number);
    this.images.addAll(other.images);
    this.states.addAll(other.states);
    this.cases.push(...other.cases);
  }

  /** One line. */
  describe(): string {
    const { counts, images, states, byRule } = this;
    const number = (value: number): string => value.toString().replace(/\B(?=(\d{3})+$)/g, ',');
    const rules = [...byRule].sort().map(([rule, times]) => `${rule} ${number(times)}`);
    const by = rules.length === 0 ? '' : ` (${rules.join(', ')})`;
    return (
      `lost ${number(counts.lost)} of ${number(counts.recovered)} images${by}: ${number(counts.tried)} tried, ` +
      `${number(images.size)} unique, ${number(states.size)} recovered states, ${number(counts.judged)} trees judged; ` +
      `workloads ${number(counts.workloads)}; second-level ${number(counts.second)}, third ${number(counts.third)}`
    );
  }

  /** For a file that other shards are merged with. Sets are words of 32 bits in hexadecimal. */
  toJSON(): unknown {
    const { unique: _unique, ...rest } = this.summary();
    return { ...rest, cases: this.cases };
  }

  /** Everything but the cases, as plain values. */
  summary(): CrashSummary {
    const { counts } = this;
    const words = (set: IdentitySet): string => {
      let text = '';
      for (const word of set.toArray()) text += (word >>> 0).toString(16).padStart(8, '0');
      return text;
    };
    return {
      counts: { ...counts },
      byRule: Object.fromEntries([...this.byRule].sort()),
      unique: { images: this.images.size, states: this.states.size },
      images: words(this.images),
      states: words(this.states),
    };
  }

  /** What `toJSON` gave. @throws InputError `ERR_CRASH_RESULT` */
  static from(value: unknown): CrashResult {
    const result = new CrashResult();
    const { counts, byRule, images, states, cases } = (value ?? {}) as Record<string, unknown>;
    const wrong = (key: string): InputError => {
      return new InputError('ERR_CRASH_RESULT', `${key} is missing or not what a result of an exploration has.`, key);
    };
    for (const name of Object.keys(result.counts) as (keyof CrashCounts)[]) {
      const number = (counts as Record<string, unknown> | undefined)?.[name];
      if (!Number.isSafeInteger(number)) throw wrong(`counts.${name}`);
      result.counts[name] = number as number;
    }
    for (const [rule, number] of Object.entries((byRule ?? {}) as object)) {
      if (!Number.isSafeInteger(number)) throw wrong(`byRule.${rule}`);
      result.byRule.set(rule, number);
    }
    for (const [key, text, set] of [
      ['images', images, result.images],
      ['states', states, result.states],
    ] as const) {
      if (typeof text !== 'string' || text.length % 16 !== 0 || !/^[0-9a-f]*$/.test(text)) throw wrong(key);
      for (let at = 0; at < text.length; at += 16) {
        set.add(Number.parseInt(text.slice(at, at + 8), 16) | 0, Number.parseInt(text.slice(at + 8, at + 16), 16) | 0);
      }
    }
    if (!Array.isArray(cases)) throw wrong('cases');
    result.cases.push(...(cases as CrashCase[]));
    return result;
  }
}
