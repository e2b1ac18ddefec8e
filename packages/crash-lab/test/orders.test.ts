import { describe, expect, it } from 'vitest';
import { DURABILITY_RULES, type History, type HistoryEvent, Judge, type Step } from '../src/index.js';
import { searchOrders } from '../src/judge/orders.js';
import { historyOf, treeAt } from './trees.js';

function event(process: number, step: number, begin: number, end: number, code = 'none'): HistoryEvent {
  return { process, step, begin, end, code, bytes: 0 };
}

/** All orders that are visited, as the begins of their events. */
function ordersOf(events: readonly HistoryEvent[], verdict: (order: string) => number = () => 0): string[] {
  const found: string[] = [];
  searchOrders(events, (order) => {
    found.push(order.map(({ begin }) => begin).join(''));
    return verdict(found[found.length - 1]);
  });
  return found;
}

describe('orders of operations', () => {
  it('are all that overlapping in time leaves open, that of the ends first', () => {
    expect(ordersOf([event(0, 0, 1, 2), event(0, 1, 3, 4)])).toEqual(['13']);
    const three = [event(0, 0, 1, 9), event(1, 0, 2, 8), event(2, 0, 3, 7)];
    expect(ordersOf(three)[0]).toBe('321');
    expect(new Set(ordersOf(three)).size).toBe(6);
    // The third begins when the first has ended.
    expect(ordersOf([event(0, 0, 1, 3), event(1, 0, 2, 9), event(0, 1, 4, 5)]).sort()).toEqual(['124', '142', '214']);
  });

  it('that begin like an impossible one are not tried', () => {
    const four = [event(0, 0, 1, 9), event(1, 0, 2, 9), event(2, 0, 3, 9), event(3, 0, 4, 9)];
    const tried = ordersOf(four, (order) => (order.startsWith('1') ? 1 : 0));
    expect(tried.filter((order) => order.startsWith('1'))).toEqual(['1234']);
    expect(tried.length).toBe(1 + 18);
    expect(ordersOf(four, () => -1).length).toBe(1);
  });
});

describe('the judge of several programs', () => {
  const processes: Step[][] = [[['create', 'bar']], [['rename', 'bar', 'B/bar']]];
  const workload = { base: 'two files with attributes', processes, seed: 1 };
  // The rename has ended first, but can only have succeeded behind the creation.
  const history: History = { workload, events: [event(0, 0, 1, 10), event(1, 0, 2, 5)] };
  const judge = new Judge(history, DURABILITY_RULES.posix);

  it('accepts what one order explains', () => {
    const inTurn = historyOf([
      ['create', 'bar'],
      ['rename', 'bar', 'B/bar'],
    ]);
    for (const position of [0, 1, 2]) expect(judge.judge(20, treeAt(inTurn, position))).toEqual([]);
  });

  it('refuses what none explains', () => {
    const both = treeAt(
      historyOf([
        ['create', 'bar'],
        ['link', 'bar', 'B/bar'],
      ]),
      2,
    );
    expect(judge.judge(20, both).map(({ rule }) => rule)).toEqual(['R6']);
    const failed: History = { workload, events: [event(0, 0, 1, 2), event(1, 0, 3, 5, 'ENOENT')] };
    const found = new Judge(failed, DURABILITY_RULES.posix).judge(20, treeAt(historyOf([['create', 'bar']]), 1));
    expect(found.map(({ rule }) => rule)).toEqual(['R12']);
  });
});
