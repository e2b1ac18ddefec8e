import { InputError } from '@flashstack/sim';
import type { CrashCase } from '../explore/crash-case.js';
import { type CrashCounts, CrashResult } from '../explore/result.js';

/** Cases that are kept of each rule: those of the workloads of the lowest numbers. */
export const KEPT_CASES = 3;

/** What determines an exploration, by name: results that agree in all of it are shards of one. */
export type CrashSettings = Readonly<Record<string, unknown>>;

/** Workloads that an operation is part of. */
export interface OperationCounts {
  readonly workloads: number;
  /** Those of which an image is lost. */
  readonly lost: number;
}

/** A failure that is kept. */
export interface KeptCase {
  /** Of the workload it was found in, counted over all shards. */
  readonly number: number;
  readonly rule: string;
  readonly path: string;
  readonly text: string;
  /** Operations of the workload it was found in. */
  readonly operations: number;
  /** As small as it was made. */
  readonly least: CrashCase;
  /** What happens in it, and how the recovered tree differs from what programs had made. */
  readonly timeline: readonly string[];
  readonly difference: readonly string[];
}

/** An exploration, or shards of one, as it is written to a file. */
export interface CrashRecord {
  readonly kind: 'crash exploration';
  readonly schema: 1;
  readonly versions: Readonly<Record<string, string>>;
  readonly settings: CrashSettings;
  /** Which shards it holds, of how many; all of them are the one of one. */
  readonly shards: { readonly of: number; readonly parts: readonly number[] };
  /** Workloads that all shards together were to explore; 0: without end. */
  readonly workloads: number;
  /** Why some were not; null: all were. */
  readonly stopped: string | null;
  readonly counts: Readonly<CrashCounts>;
  /** Images lost, by the rule that is violated first. */
  readonly byRule: Readonly<Record<string, number>>;
  readonly byOperation: Readonly<Record<string, OperationCounts>>;
  /** Different images and different recovered states: how many, and their identities in hexadecimal. */
  readonly unique: { readonly images: number; readonly states: number };
  readonly images: string;
  readonly states: string;
  readonly cases: readonly KeptCase[];
}

/** A record from the value of a file. @throws InputError `ERR_CRASH_RECORD`, `ERR_CRASH_RESULT` naming `name` */
export function readRecord(value: unknown, name: string): CrashRecord {
  const record = (value ?? {}) as Partial<CrashRecord>;
  if (record.kind !== 'crash exploration') throw refused(name, 'is no result of a crash exploration');
  if (record.schema !== 1) throw refused(name, `has schema ${record.schema}; this version reads schema 1`);
  const { of, parts } = record.shards ?? {};
  const isPart = (part: unknown): boolean => Number.isSafeInteger(part) && (part as number) < (of as number);
  if (!Number.isSafeInteger(of) || !Array.isArray(parts) || !parts.every(isPart)) throw refused(name, 'has no shards');
  for (const key of ['versions', 'settings', 'byOperation', 'unique'] as const) {
    if (typeof record[key] !== 'object' || record[key] === null) throw refused(name, `has no ${key}`);
  }
  if (!Number.isSafeInteger(record.workloads)) throw refused(name, 'has no number of workloads');
  if (!Array.isArray(record.cases)) throw refused(name, 'has no cases');
  resultOf(record as CrashRecord, name);
  return record as CrashRecord;
}

/** The counts of a record as a result that can be merged and described. @throws InputError `ERR_CRASH_RESULT` */
export function resultOf(record: CrashRecord, name: string = 'the record'): CrashResult {
  try {
    return CrashResult.from({ ...record, cases: [] });
  } catch (error) {
    throw new InputError('ERR_CRASH_RESULT', `${name}: ${(error as Error).message}`, name, { cause: error });
  }
}

/**
 * Shards of one exploration as one record: of all shards, to the byte that of the exploration in one piece.
 * @throws InputError `ERR_CRASH_MERGE` if they are not of one exploration, or one is given twice.
 */
export function mergeRecords(records: readonly CrashRecord[]): CrashRecord {
  if (records.length === 0) throw new InputError('ERR_CRASH_MERGE', 'there is no result to merge.', 'results');
  const [first] = records;
  for (const other of records) checkSame(first, other);
  const parts = records.flatMap(({ shards }) => shards.parts).sort((a, b) => a - b);
  const twice = parts.find((part, at) => part === parts[at + 1]);
  if (twice !== undefined) {
    throw new InputError('ERR_CRASH_MERGE', `shard ${twice + 1}/${first.shards.of} is given twice.`, 'results');
  }
  const result = new CrashResult();
  for (const record of records) result.merge(resultOf(record));
  const whole = parts.length === first.shards.of;
  return {
    ...first,
    shards: whole ? { of: 1, parts: [0] } : { of: first.shards.of, parts },
    stopped: records.find(({ stopped }) => stopped !== null)?.stopped ?? null,
    ...result.summary(),
    byOperation: mergedOperations(records),
    cases: lowest(records.flatMap(({ cases }) => cases)),
  };
}

function checkSame(first: CrashRecord, other: CrashRecord): void {
  const differs = (name: string, one: unknown, another: unknown): void => {
    const [a, b] = [JSON.stringify(one), JSON.stringify(another)];
    if (a === b) return;
    const message = `the results are not of one exploration: ${name} is ${a} in one and ${b} in another.`;
    throw new InputError('ERR_CRASH_MERGE', message, name);
  };
  for (const name of new Set([...Object.keys(first.settings), ...Object.keys(other.settings)])) {
    differs(name, first.settings[name], other.settings[name]);
  }
  differs('versions', first.versions, other.versions);
  differs('the number of shards', first.shards.of, other.shards.of);
  differs('the number of workloads', first.workloads, other.workloads);
}

function mergedOperations(records: readonly CrashRecord[]): Record<string, OperationCounts> {
  const sum = new Map<string, OperationCounts>();
  for (const [name, { workloads, lost }] of records.flatMap(({ byOperation }) => Object.entries(byOperation))) {
    const before = sum.get(name) ?? { workloads: 0, lost: 0 };
    sum.set(name, { workloads: before.workloads + workloads, lost: before.lost + lost });
  }
  return Object.fromEntries([...sum].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Of each rule those of the lowest numbers, in order. */
function lowest(cases: readonly KeptCase[]): KeptCase[] {
  const sorted = [...cases].sort((a, b) => a.number - b.number || (a.rule < b.rule ? -1 : 1));
  const kept = new Map<string, number>();
  return sorted.filter(({ rule }) => {
    const before = kept.get(rule) ?? 0;
    kept.set(rule, before + 1);
    return before < KEPT_CASES;
  });
}

function refused(name: string, what: string): InputError {
  return new InputError('ERR_CRASH_RECORD', `${name} ${what}.`, name);
}
