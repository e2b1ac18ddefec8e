import type { CrashCase } from '../explore/crash-case.js';
import { Explorer, type ExplorerOptions } from '../explore/explorer.js';
import { minimiseCase } from '../explore/minimise.js';
import { replayCase } from '../explore/replay.js';
import { treesOf } from '../explore/tree-difference.js';
import { diffOfTrees } from '../judge/diff.js';
import type { CrashSubject } from '../subject.js';
import type { Workload } from '../workload/workload.js';
import {
  type CrashRecord,
  type CrashSettings,
  KEPT_CASES,
  type KeptCase,
  type OperationCounts,
} from './crash-record.js';

/** Which part of an exploration this is, and what is said of it. */
export interface ExplorationPlan {
  readonly settings: CrashSettings;
  /** Versions of what it is made by: name to version. */
  readonly versions: Readonly<Record<string, string>>;
  readonly shard: { readonly index: number; readonly of: number };
  /** Workloads of all shards together; 0: without end. */
  readonly workloads: number;
}

/** How an exploration ends. */
export interface EndOptions {
  /** Why workloads are left; absent: none are. */
  readonly stopped?: string;
  /** Cases of each rule that are made smaller. Default: all that are kept. */
  readonly minimised?: number;
  /** Before each case that is made smaller. */
  readonly progress?: (done: number, total: number) => void;
}

/** Explores numbered workloads and keeps, of each rule, the cases of the lowest numbers: the same in any number of shards. */
export class Exploration {
  readonly explorer: Explorer;
  private readonly subject: CrashSubject;
  private readonly options: ExplorerOptions;
  private readonly plan: ExplorationPlan;
  private readonly operations: Map<string, OperationCounts> = new Map();
  private readonly kept: Map<string, { readonly number: number; readonly found: CrashCase }[]> = new Map();

  /** @throws InputError as `Explorer` */
  constructor(subject: CrashSubject, options: ExplorerOptions, plan: ExplorationPlan) {
    this.subject = subject;
    this.options = options;
    this.plan = plan;
    this.explorer = new Explorer(subject, options);
  }

  /** Explores the workload of a number, which is larger than those before. @throws InputError `ERR_BASE_STATE` */
  explore(number: number, workload: Workload): void {
    const { result } = this.explorer;
    const before = result.counts.lost;
    this.explorer.explore(workload);
    const lost = result.counts.lost > before ? 1 : 0;
    for (const name of new Set(workload.processes.flat().map(([operation]) => operation))) {
      const counts = this.operations.get(name) ?? { workloads: 0, lost: 0 };
      this.operations.set(name, { workloads: counts.workloads + 1, lost: counts.lost + lost });
    }
    for (const found of result.cases.splice(0)) {
      const { rule } = found.violation;
      const same = this.kept.get(rule) ?? [];
      if (same.length < KEPT_CASES) same.push({ number, found });
      this.kept.set(rule, same);
    }
  }

  /** What was found, with its cases made smaller and told. */
  end({ stopped, minimised = KEPT_CASES, progress }: EndOptions = {}): CrashRecord {
    const { settings, versions, shard, workloads } = this.plan;
    const { result } = this.explorer;
    const kept = [...this.kept.values()].flatMap((of) => of.map((one, at) => ({ ...one, smaller: at < minimised })));
    const cases = kept.map(({ number, found, smaller }, at) => {
      progress?.(at, kept.length);
      return this.tell(number, found, smaller);
    });
    return {
      kind: 'crash exploration',
      schema: 1,
      versions,
      settings,
      shards: { of: shard.of, parts: [shard.index] },
      workloads,
      stopped: stopped ?? null,
      ...result.summary(),
      byOperation: Object.fromEntries([...this.operations].sort(([a], [b]) => (a < b ? -1 : 1))),
      cases: cases.sort((a, b) => a.number - b.number || (a.rule < b.rule ? -1 : 1)),
    };
  }

  private tell(number: number, found: CrashCase, smaller: boolean): KeptCase {
    const { combinations, draws, most, seed } = this.options;
    const limits = { combinations, draws, most, seed };
    const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
    const least = smaller ? minimiseCase(this.subject, found, given) : found;
    const { timeline } = replayCase(this.subject, least);
    const trees = treesOf(this.subject, least);
    return {
      number,
      ...found.violation,
      operations: found.workload.processes.reduce((sum, { length }) => sum + length, 0),
      least,
      timeline,
      difference: trees?.found == null ? [] : diffOfTrees(trees.made, trees.found),
    };
  }
}
