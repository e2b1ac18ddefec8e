import { judgeExistence, judgeRenames } from './existence.js';
import { Found } from './found.js';
import type { History } from './history.js';
import { judgeNames } from './names.js';
import { judgeObjects } from './objects.js';
import { searchOrders } from './orders.js';
import { judgePrefix } from './prefix.js';
import { Promises } from './promises.js';
import { judgeReplaced } from './replaced.js';
import type { DurabilityRules } from './rules.js';
import { Timeline } from './timeline.js';
import type { Tree } from './tree.js';
import type { Violation } from './violation.js';

/** Orders of overlapping operations that are tried before a tree is called wrong. */
const MOST_ORDERS = 2000;

/** Judges trees that are left of one history by what a file system promises. */
export class Judge {
  private readonly history: History;
  private readonly rules: DurabilityRules;
  /** Of a single program: its operations have one order. */
  private readonly only: Timeline | null;

  constructor(history: History, rules: DurabilityRules) {
    this.history = history;
    this.rules = rules;
    this.only = history.workload.processes.length <= 1 ? new Timeline(history, history.events) : null;
  }

  /**
   * What a tree violates that was recovered after a power cut at a position of the history's order; empty: nothing. With
   * several programs a tree is right if it is for some order of operations that overlapped in time.
   */
  judge(cut: number, tree: Tree): Violation[] {
    if (this.only !== null) return judgeOrder(this.only, cut, tree, this.rules);
    let best: Violation[] | null = null;
    let tried = 0;
    searchOrders(
      this.history.events.filter(({ begin }) => begin <= cut),
      (order) => {
        const timeline = new Timeline(this.history, order);
        tried++;
        if (timeline.unexplained < 0) {
          const violations = judgeOrder(timeline, cut, tree, this.rules);
          if (best === null || violations.length === 0) best = violations;
          if (violations.length === 0) return -1;
        }
        return tried >= MOST_ORDERS ? -1 : Math.max(0, timeline.unexplained);
      },
    );
    const text = `none of ${tried} orders of the operations explains what they returned`;
    return best ?? [{ rule: 'R12', path: '', text }];
  }
}

/** What a tree violates, see `Judge`. */
export function judge(history: History, cut: number, tree: Tree, rules: DurabilityRules): Violation[] {
  return new Judge(history, rules).judge(cut, tree);
}

function judgeOrder(timeline: Timeline, cut: number, tree: Tree, rules: DurabilityRules): Violation[] {
  const found = new Found(new Promises(timeline, rules, cut), tree);
  if (timeline.unexplained >= 0) {
    found.violated(
      'R12',
      '',
      `${timeline.describe(timeline.unexplained)} has succeeded, which cannot be in that state`,
    );
    return found.violations;
  }
  judgeNames(found);
  judgeObjects(found);
  judgeExistence(found);
  judgeRenames(found);
  if (rules.replacesWithData) judgeReplaced(found);
  if (rules.prefix !== 'none') judgePrefix(found);
  return found.violations;
}
