import {
  type CrashRecord,
  type KeptCase,
  RULE_TITLES,
  resultOf,
  type Step,
  type Workload,
} from '@flashstack/crash-lab';
import type { TargetDescription } from './crash-target.js';
import { type Style, table, width, wrap } from './terminal.js';

const LIMIT = 80;

/** An exploration as text: what was lost, the counts to the last unit, the rules that were broken, cases, files. */
export function renderCrash(record: CrashRecord, files: readonly [string, string][], style: Style): string {
  const { settings, counts, stopped, cases } = record;
  const { target, seed, model } = settings as { target: TargetDescription; seed: number; model: string };
  const left = style.tone('strong', target.fileSystem);
  const right = style.tone('dim', `seed ${seed} · ${model} · rules ${target.rules}${shardText(record)}`);
  const lines = [
    `${left}${' '.repeat(Math.max(2, LIMIT - width(left) - width(right)))}${right}`,
    verdict(counts.lost, counts.recovered, style),
    '',
    ...wrap(resultOf(record).describe(), LIMIT - 2).map((line) => `  ${line}`),
  ];
  if (stopped !== null) {
    const of = record.workloads === 0 ? '' : ` of ${style.numbers.count(record.workloads)}`;
    const text = `${stopped}: ${style.numbers.count(counts.workloads)}${of} workloads were explored`;
    lines.push('', `${style.tone('attention', style.attention)} ${text}`);
  }
  lines.push(...rulesTable(record, style), ...firstOfEach(cases).flatMap((kept) => caseLines(kept, style)));
  if (files.length > 0) lines.push('');
  for (const [what, path] of files) lines.push(`${style.tone('dim', what.padEnd(8))} ${style.tone('path', path)}`);
  return `${lines.join('\n')}\n`;
}

function shardText({ shards: { of, parts } }: CrashRecord): string {
  return of === 1 ? '' : ` · shard ${parts.map((part) => part + 1).join(', ')} of ${of}`;
}

function verdict(lost: number, recovered: number, style: Style): string {
  const { numbers } = style;
  if (lost === 0) return style.tone('good', `Nothing is lost in ${numbers.counted(recovered, 'image')}.`);
  const be = lost === 1 ? 'breaks a promise' : 'break a promise';
  return style.tone('bad', `${numbers.count(lost)} of ${numbers.counted(recovered, 'image')} ${be}.`);
}

function rulesTable({ byRule }: CrashRecord, style: Style): string[] {
  const rows = Object.entries(byRule).map(([rule, lost]) => [
    style.tone('bad', rule),
    style.numbers.count(lost),
    RULE_TITLES[rule] ?? '',
  ]);
  if (rows.length === 0) return [];
  const head = ['rule', 'images', 'it demands'].map((text) => style.tone('dim', text));
  return ['', ...table([head, ...rows], 'lrl').map((line) => `  ${line}`)];
}

/** The operations of each program, as one text. */
export function stepsOf({ processes }: Workload): string[] {
  const step = ([name, ...args]: Step): string => [name, ...args.map((arg) => (arg === '' ? '/' : arg))].join(' ');
  return processes.map((program) => program.map(step).join('; '));
}

function firstOfEach(cases: readonly KeptCase[]): KeptCase[] {
  return cases.filter(({ rule }, at) => cases.findIndex((other) => other.rule === rule) === at);
}

function caseLines({ number, rule, path, text, operations, least }: KeptCase, style: Style): string[] {
  const found = `In workload ${style.numbers.count(number + 1)}, of ${style.numbers.counted(operations, 'operation')}; as little does it: `;
  const indented = (of: string): string[] => wrap(of, LIMIT - 4).map((line) => `    ${line}`);
  const what = wrap(`${rule}: ${path === '' ? '' : `${path}: `}${text}`, LIMIT - 2);
  return [
    '',
    ...what.map((line, at) => `  ${at === 0 ? style.tone('bad', rule) + line.slice(rule.length) : line}`),
    ...indented(`${found}${stepsOf(least.workload).join(' | ')}`),
  ];
}
