import { html, type Markup } from '../markup.js';
import { percent, significant } from '../numbers.js';
import { type Comparison, groupOf } from './groups.js';
import { judge, type Measure, measures, type Spread, spreadOf } from './measures.js';

const throughput = named('throughput');
const tail = named('write p99.9');
const tailP99 = named('write p99');
const amplification = named('write amplification');

function named(name: string): Measure {
  const measure = measures.find((candidate) => candidate.name === name);
  if (measure === undefined) throw new Error(`no measure is called ${name}`);
  return measure;
}

interface Ranked {
  readonly at: number;
  readonly name: string;
  readonly spread: Spread;
}

/** Systems by a measure, best first. */
function ranked(comparison: Comparison, workload: number, measure: Measure): Ranked[] {
  return comparison.systems
    .flatMap((system, at): Ranked[] => {
      const spread = spreadOf(groupOf(comparison, workload, at), measure);
      return spread === null ? [] : [{ at, name: system.name, spread }];
    })
    .sort((a, b) => (measure.better === 'more' ? b.spread.mean - a.spread.mean : a.spread.mean - b.spread.mean));
}

/** Who is first by a measure, or null where the first two do not differ. */
function winner(comparison: Comparison, workload: number, measure: Measure): { first: Ranked; last: Ranked } | null {
  const order = ranked(comparison, workload, measure);
  if (order.length < 2) return null;
  const [first, second] = order;
  if (judge(second.spread, first.spread, measure) !== 'better') return null;
  return { first, last: order[order.length - 1] };
}

/** Who wins by how much, and at what price. */
export function comparisonHeadline(comparison: Comparison): Markup {
  if (comparison.systems.length === 1) {
    const rates = spreadOf(comparison.groups[0], throughput);
    const spread =
      rates === null
        ? ''
        : ` Throughput lies from ${throughput.spoken(rates.low)} to ${throughput.spoken(rates.high)}.`;
    return html`${comparison.groups[0].views.length} seeds of one spec.${spread}`;
  }
  const sentences = comparison.workloads.map((name, workload) => sentence(comparison, workload, name));
  return html`${sentences.slice(0, 3).map((part, i) => html`${i === 0 ? '' : ' '}${part}`)}${
    sentences.length > 3 ? ` ${sentences.length - 3} more workloads are below.` : ''
  }`;
}

function sentence(comparison: Comparison, workload: number, name: string): Markup {
  const where = name === '' || comparison.workloads.length === 1 ? '' : `Under ${name}, `;
  const fast = winner(comparison, workload, throughput);
  const start =
    fast === null
      ? html`${where === '' ? 'No' : `${where}no`} difference in throughput is outside the spread`
      : html`${where}${fast.first.name} is fastest: <b>${significant(fast.first.spread.mean / fast.last.spread.mean)}\u00a0×</b> ${fast.last.name}`;
  const least = winner(comparison, workload, amplification);
  const flash =
    least === null
      ? ''
      : `; ${least.first.name === fast?.first.name ? 'it' : least.first.name} programs the least flash per byte (${significant(least.first.spread.mean)} against ${significant(least.last.spread.mean)})`;
  return html`${start}${flash}${tailClause(comparison, workload, fast?.first.name)}.`;
}

function tailClause(comparison: Comparison, workload: number, fastest: string | undefined): string {
  const measure = winner(comparison, workload, tail) === null ? tailP99 : tail;
  const found = winner(comparison, workload, measure);
  if (found === null) return '';
  const { first, last } = found;
  const label = measure.name.replace('write ', '');
  const shorter = `${percent(1 - first.spread.mean / last.spread.mean)} below that of ${last.name}`;
  if (first.name === fastest) return `; its ${label} write latency is ${shorter}`;
  return `, but ${first.name} has the shorter tail: its ${label} write latency is ${shorter}`;
}

/** What the ratio plot of a workload shows. */
export function ratioTitle(comparison: Comparison, workload: number): string {
  const { systems, baseline, workloads } = comparison;
  const where = workloads.length === 1 || workloads[workload] === '' ? '' : `${workloads[workload]}: `;
  const counts = systems.flatMap((system, at) => {
    if (at === baseline) return [];
    const tally = { name: system.name, better: 0, worse: 0, told: 0 };
    for (const measure of measures) {
      const base = spreadOf(groupOf(comparison, workload, baseline), measure);
      const own = spreadOf(groupOf(comparison, workload, at), measure);
      if (base === null || own === null) continue;
      const verdict = judge(base, own, measure);
      tally.told++;
      if (verdict === 'better') tally.better++;
      if (verdict === 'worse') tally.worse++;
    }
    return [tally];
  });
  if (counts.length !== 1) return `${where}How the others stand to ${systems[baseline].name}`;
  const [{ name, better, worse, told }] = counts;
  const base = systems[baseline].name;
  if (better === told && told > 0) return `${where}${name} is better than ${base} in everything`;
  if (worse === told && told > 0) return `${where}${name} is worse than ${base} in everything`;
  if (better === 0 && worse === 0) return `${where}${name} does not differ from ${base}`;
  return `${where}${name} is better than ${base} in ${better} of ${told} measures, worse in ${worse}`;
}
