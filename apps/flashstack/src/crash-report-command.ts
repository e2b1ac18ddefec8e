import { type CrashRecord, mergeRecords, RULE_TITLES } from '@flashstack/crash-lab';
import { writeAmount } from '@flashstack/experiment';
import { writeWhole } from '@flashstack/experiment/node';
import type { CrashExploration } from '@flashstack/report';
import { readCrashResult } from './crash-files.js';
import { show, writeFiles } from './crash-run-command.js';
import { renderCrash, stepsOf } from './crash-summary.js';
import type { TargetDescription } from './crash-target.js';
import { ExitCode } from './exit-code.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';

/** Options of `crash merge`, as typed. */
export interface MergeFlags {
  readonly out: string;
  readonly cases?: string;
  readonly json?: boolean;
}

/** `flashstack crash merge RESULT…`: shards of one exploration as one result. Returns the exit code: 1 if something was lost. */
export function runCrashMerge(paths: readonly string[], flags: MergeFlags, session: Session): number {
  for (const flag of ['out', 'cases'] as const) {
    if (flags[flag] === '') throw new UsageError(`--${flag} is "", expected a name.`);
  }
  const record = mergeRecords(paths.map(readCrashResult));
  show(record, writeFiles(record, flags), flags.json === true, session);
  return exitCode(record);
}

/** Options of `crash report`, as typed. */
export interface CrashReportFlags {
  readonly out?: string;
}

/**
 * `flashstack crash report RESULT…`: what explorations found, as text, and as a page if wanted; shards of one exploration
 * are one. Returns the exit code: 1 if something was lost.
 */
export async function runCrashReport(
  paths: readonly string[],
  { out }: CrashReportFlags,
  session: Session,
): Promise<number> {
  if (out === '') throw new UsageError('--out is "", expected a name.');
  const records = merged(paths.map(readCrashResult));
  const files: [string, string][] = [];
  if (out !== undefined) {
    const { renderCrashes } = await import('@flashstack/report');
    writeWhole(out, renderCrashes(records.map(explorationOf)));
    files.push(['report', out]);
  }
  const texts = records.map((record, at) => renderCrash(record, at === records.length - 1 ? files : [], session.style));
  session.print(texts.join('\n'));
  return records.some(({ counts }) => counts.lost > 0) ? ExitCode.no : ExitCode.done;
}

/** Shards of one exploration together. */
function merged(records: readonly CrashRecord[]): CrashRecord[] {
  const groups = new Map<string, CrashRecord[]>();
  for (const record of records) {
    const key = JSON.stringify([record.settings, record.versions, record.shards.of]);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()].map(mergeRecords);
}

/** A result as its page shows it. */
function explorationOf(record: CrashRecord): CrashExploration {
  const { settings, workloads, stopped, counts, unique, byRule, byOperation, cases, versions } = record;
  const { target } = settings as { target: TargetDescription };
  return {
    name: target.fileSystem,
    configuration: configurationOf(record),
    planned: workloads,
    stopped,
    counts,
    unique,
    byRule,
    titles: RULE_TITLES,
    byOperation,
    failures: cases.map((one) => ({ ...one, steps: stepsOf(one.least.workload) })),
    versions,
  };
}

function configurationOf({ settings, shards }: CrashRecord): Record<string, string> {
  const { target, workloads, ...rest } = settings as Readonly<Record<string, unknown>> & {
    target: TargetDescription;
    workloads: Readonly<Record<string, unknown>>;
  };
  const text: Record<string, string> = { capacity: writeAmount('size', target.capacityBytes), rules: target.rules };
  for (const [key, value] of [...Object.entries(target.parameters), ...Object.entries(workloads)]) {
    if (typeof value !== 'object') text[key] = String(value);
  }
  for (const [key, value] of Object.entries(rest)) if (value !== null && value !== false) text[key] = String(value);
  if (shards.of > 1) text.shards = `${shards.parts.map((part) => part + 1).join(', ')} of ${shards.of}`;
  return text;
}

function exitCode({ counts }: CrashRecord): number {
  return counts.lost > 0 ? ExitCode.no : ExitCode.done;
}
