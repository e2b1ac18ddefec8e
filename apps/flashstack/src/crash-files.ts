import { type CrashCase, type CrashRecord, type KeptCase, readRecord } from '@flashstack/crash-lab';
import { InputError, mix32 } from '@flashstack/sim';
import type { TargetDescription } from './crash-target.js';
import { textOf } from './crash-workloads.js';

/** One failure as a file: everything that makes it happen again. */
export interface CaseFile {
  readonly kind: 'crash case';
  readonly schema: 1;
  readonly versions: Readonly<Record<string, string>>;
  readonly target: TargetDescription;
  /** Of the exploration that found it. */
  readonly seed: number;
  readonly case: CrashCase;
}

/** The failures of a result as files: name and text. Equal ones are one. */
export function caseFiles(record: CrashRecord): Map<string, string> {
  return new Map(record.cases.map((kept) => caseFile(record, kept)));
}

function caseFile({ versions, settings }: CrashRecord, { least }: KeptCase): [string, string] {
  const { target, seed } = settings as { target: TargetDescription; seed: number };
  const file: CaseFile = { kind: 'crash case', schema: 1, versions, target, seed, case: least };
  // What was found, not by which version or seed, makes the name.
  const rule = least.violation.rule.replaceAll(/[^\w-]/g, '-');
  return [
    `${rule}-${hash(JSON.stringify([target.fileSystem, least]))}.json`,
    `${flat(JSON.stringify(file, null, 1))}\n`,
  ];
}

/** Lists of plain values on one line. A text of JSON holds no line break, so only lists are met. */
function flat(text: string): string {
  return text.replaceAll(/\[\n[^[\]{}]*?\n\s*\]/g, (list) =>
    list.replaceAll(/\n\s*/g, '').replaceAll(/,(?=[^ ])/g, ', '),
  );
}

function hash(text: string): string {
  let value = text.length;
  for (let at = 0; at < text.length; at++) value = mix32(value ^ Math.imul(text.charCodeAt(at), 0x9e3779b1));
  return (value >>> 0).toString(16).padStart(8, '0');
}

/** @throws InputError `ERR_CRASH_CASE`, UsageError, HostError */
export function readCase(path: string): CaseFile {
  const file = parsed(path) as Partial<CaseFile> | null;
  if (file?.kind !== 'crash case') {
    const hint =
      (file as { kind?: unknown } | null)?.kind === 'crash exploration' ? ' It is a result: crash report.' : '';
    throw new InputError('ERR_CRASH_CASE', `${path} is no case of a crash exploration.${hint}`, path);
  }
  if (file.schema !== 1) {
    throw new InputError('ERR_CRASH_CASE', `${path} has schema ${file.schema}; this version reads schema 1.`, path);
  }
  const found = file.case;
  const whole =
    typeof file.target?.fileSystem === 'string' &&
    Array.isArray(file.target.modules) &&
    Array.isArray(found?.workload?.processes) &&
    Array.isArray(found.images) &&
    typeof found.violation?.rule === 'string';
  if (!whole) throw new InputError('ERR_CRASH_CASE', `${path} is damaged: target or case lacks something.`, path);
  return file as CaseFile;
}

/** @throws InputError `ERR_CRASH_RECORD`, UsageError, HostError */
export function readCrashResult(path: string): CrashRecord {
  return readRecord(parsed(path), path);
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(textOf(path)) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InputError('ERR_CRASH_RECORD', `${path} is no JSON: ${error.message}.`, path);
  }
}

/** A result as the text of its file. */
export function resultText(record: CrashRecord): string {
  return `${flat(JSON.stringify(record, null, 1))}\n`;
}
