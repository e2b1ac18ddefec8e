import type { CrashModel } from '@flashstack/block-device/crash';
import { type CrashRecord, Exploration, type ExplorerOptions } from '@flashstack/crash-lab';
import { parseAmount } from '@flashstack/experiment';
import { writeWhole } from '@flashstack/experiment/node';
import { caseFiles, resultText } from './crash-files.js';
import { renderCrash } from './crash-summary.js';
import { type TargetFlags, targetOf } from './crash-target.js';
import { type Shard, type WorkloadFlags, type WorkloadSource, workloadsOf } from './crash-workloads.js';
import { ExitCode } from './exit-code.js';
import { Interrupt, InterruptedError } from './interrupt.js';
import { parseWhole } from './option-flags.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';

/** Options of `crash run`, as typed. */
export interface CrashFlags extends TargetFlags, WorkloadFlags {
  readonly budget?: string;
  readonly shard: string;
  readonly seed: string;
  readonly model: string;
  readonly overlap?: boolean;
  readonly depth: string;
  readonly images: string;
  readonly out?: string;
  readonly cases?: string;
  readonly json?: boolean;
}

/** How much is explored: so many workloads, or for so long. */
interface Budget {
  readonly workloads: number;
  readonly ms: number;
}

/**
 * `flashstack crash run`: explores what power cuts leave of a file system. Returns the exit code: 1 if something was lost.
 */
export async function runCrash(flags: CrashFlags, session: Session): Promise<number> {
  for (const flag of ['out', 'cases'] as const) {
    if (flags[flag] === '') throw new UsageError(`--${flag} is "", expected a name.`);
  }
  const seed = parseWhole('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER);
  const options = optionsOf(flags, seed);
  const budget = budgetOf(flags.budget);
  const shard = shardOf(flags.shard);
  const target = await targetOf(flags);
  const source = workloadsOf(flags, target.capabilities, seed, budget.workloads);
  const { subject, description } = target;
  const settings = { target: description, seed, workloads: source.settings, budget: flags.budget ?? null, ...options };
  const versions = { flashstack: session.version };
  const plan = { settings, versions, shard, workloads: source.total };
  const exploration = new Exploration(subject, options, plan);
  const interrupt = new Interrupt(session.host);
  let record: CrashRecord;
  try {
    record = await explore(exploration, source, shard, budget, interrupt, session);
  } finally {
    interrupt.release();
  }
  show(record, writeFiles(record, flags), flags.json === true, session);
  if (interrupt.requested) return ExitCode.interrupted;
  return record.counts.lost > 0 ? ExitCode.no : ExitCode.done;
}

async function explore(
  exploration: Exploration,
  source: WorkloadSource,
  shard: Shard,
  budget: Budget,
  interrupt: Interrupt,
  session: Session,
): Promise<CrashRecord> {
  const { host, progress } = session;
  const mine = source.total === 0 ? 0 : Math.ceil((source.total - shard.index) / shard.of);
  const startedMs = host.nowMs();
  let done = 0;
  let stopped: string | undefined;
  progress.start('explore');
  for (const workload of source.list(shard)) {
    await interrupt.yield();
    const ms = host.nowMs() - startedMs;
    if (interrupt.requested) stopped = 'interrupted';
    else if (ms >= budget.ms && done > 0) stopped = 'the budget of time is used up';
    if (stopped !== undefined) break;
    exploration.explore(shard.index + done * shard.of, workload);
    done++;
    progress.update(done, expected(done, mine, ms, budget.ms), ' workloads');
  }
  if (done === 0 && interrupt.requested) throw new InterruptedError();
  progress.start('minimise');
  const few = stopped === 'interrupted' ? { minimised: 1 } : {};
  return exploration.end({
    ...(stopped === undefined ? {} : { stopped }),
    ...few,
    progress: (at, of) => progress.update(at, of, ' cases'),
  });
}

/** Workloads there will be, for the bar: all, or as many as the time allows at this rate. */
function expected(done: number, all: number, ms: number, budgetMs: number): number {
  if (budgetMs === Number.POSITIVE_INFINITY || ms <= 0) return all;
  const inTime = Math.max(done, Math.ceil((done * budgetMs) / ms));
  return all === 0 ? inTime : Math.min(all, inTime);
}

function optionsOf({ model, overlap = false, depth, images }: CrashFlags, seed: number): ExplorerOptions {
  const most = images === 'all' ? {} : { most: parseWhole('--images', images, 1, 1e9) };
  return { seed, model: model as CrashModel, overlap, depth: parseWhole('--depth', depth, 1, 3), ...most };
}

function budgetOf(text: string | undefined): Budget {
  if (text === undefined) return { workloads: 0, ms: Number.POSITIVE_INFINITY };
  const workloads = parseAmount('count', text);
  if (Number.isSafeInteger(workloads) && workloads > 0) return { workloads, ms: Number.POSITIVE_INFINITY };
  const ns = parseAmount('time', text);
  if (ns > 0) return { workloads: 0, ms: ns / 1e6 };
  throw new UsageError(`--budget is "${text}", expected a number of workloads or a time.`, [
    'Such as 500, 10k, 30s, 5min.',
  ]);
}

function shardOf(text: string): Shard {
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const shard = { index: Number(number) - 1, of: Number(of) };
  if (number !== undefined && shard.index >= 0 && shard.index < shard.of && shard.of <= 1e6) return shard;
  throw new UsageError(`--shard is "${text}", expected i/n with i from 1 to n.`, ['Such as 1/4, 2/4, 3/4 and 4/4.']);
}

/** The files of a result: what each is and where. */
export function writeFiles(record: CrashRecord, { out, cases }: { out?: string; cases?: string }): [string, string][] {
  const files: [string, string][] = [];
  if (out !== undefined) {
    writeWhole(out, resultText(record));
    files.push(['result', out]);
  }
  if (cases !== undefined) {
    const folder = cases.replace(/(?<=.)\/+$/, '');
    for (const [name, text] of caseFiles(record)) {
      writeWhole(`${folder}/${name}`, text);
      files.push(['case', `${folder}/${name}`]);
    }
  }
  return files;
}

/** Prints a result. */
export function show(record: CrashRecord, files: readonly [string, string][], json: boolean, session: Session): void {
  session.print(json ? resultText(record) : renderCrash(record, files, session.style));
}
