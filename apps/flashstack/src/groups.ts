import { canonicalJson, type ExperimentResult, specLeaves } from '@flashstack/experiment';
import { UsageError } from './report-error.js';

/** Characters of a name made of values. */
const LONGEST = 24;

/** Results that differ in nothing but the seed. */
export interface Group {
  readonly name: string;
  readonly results: readonly ExperimentResult[];
}

/** A result with the name that its file gives it. */
export interface NamedRun {
  readonly name: string;
  readonly result: ExperimentResult;
}

/**
 * Puts results together that differ in nothing but the seed, in the order in which they came; interrupted runs apart.
 * @throws UsageError if a run is there twice: it would count as two samples.
 */
export function groupsOf(runs: readonly NamedRun[]): Group[] {
  const groups = new Map<string, { names: string[]; results: ExperimentResult[] }>();
  const seen = new Map<string, string>();
  for (const { name, result } of runs) {
    const { seed, ...rest } = result.spec;
    const key = canonicalJson({ ...rest, partial: result.partial !== null });
    const same = canonicalJson(result.spec);
    const before = seen.get(same);
    if (before !== undefined) {
      throw new UsageError(`${before} and ${name} are the same run, with seed ${seed}.`, ['Give it once.']);
    }
    seen.set(same, name);
    const group = groups.get(key) ?? { names: [], results: [] };
    group.names.push(name);
    group.results.push(result);
    groups.set(key, group);
  }
  const found = [...groups.values()].map(({ names, results }) => ({ name: commonName(names), results }));
  return new Set(found.map(({ name }) => name)).size === found.length ? found : renamed(found);
}

/**
 * Equal names would hide which is which: the values of the keys that differ tell it, in full or without the parameters of
 * strategies; those of all keys, or else of the first one that will do, or else a number.
 */
function renamed(groups: readonly Group[]): Group[] {
  const differences = differencesOf(groups);
  for (const keys of [differences, ...differences.map((difference) => [difference])]) {
    for (const text of [valueText, strategyName]) {
      const names = groups.map((_, at) => keys.map(({ values }) => text(values[at])).join(', '));
      const tell =
        new Set(names).size === groups.length && names.every(({ length }) => length > 0 && length <= LONGEST);
      if (tell) return groups.map((group, at) => ({ ...group, name: names[at] }));
    }
  }
  return groups.map((group, at) => ({ ...group, name: `${group.name} ${at + 1}` }));
}

function strategyName(value: unknown): string {
  return valueText(value).replace(/ .*/, '');
}

/** A value of a spec as it is shown. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'not set';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The names' common beginning, without a seed at its end. */
function commonName([first, ...others]: readonly string[]): string {
  const bare = first.replace(/[-._]?(seed)?[-._]?\d+$/i, '');
  if (others.length === 0) return first;
  let length = first.length;
  for (const other of others) {
    while (!other.startsWith(first.slice(0, length))) length--;
  }
  const common = first.slice(0, length).replace(/[-._]?(seed)?[-._]*\d*$/i, '');
  return common === '' ? bare || first : common;
}

/** A place where specs differ, and each group's value there. */
export interface Difference {
  readonly path: string;
  readonly values: readonly unknown[];
}

/**
 * The keys in which the specs of groups differ. Drives of different presets differ in everything: that is one
 * difference, `device`. What a drive keeps follows from the file system.
 */
export function differencesOf(groups: readonly Group[]): Difference[] {
  const specs = groups.map(({ results: [{ spec }] }) => {
    const { seed: _, ...rest } = spec;
    return rest as unknown as Readonly<Record<string, unknown>>;
  });
  const names = specs.map((spec) => (spec.device as { name: string }).name);
  const sameDrive = new Set(names).size === 1;
  const found: Difference[] = sameDrive ? [] : [{ path: 'device', values: names }];
  const leaves = specs.map((spec) => leavesOf(sameDrive ? spec : { ...spec, device: null }));
  const paths = new Set(leaves.flatMap((map) => [...map.keys()]));
  for (const path of paths) {
    const values = leaves.map((map) => map.get(path));
    if (new Set(values.map((value) => JSON.stringify(value))).size > 1) found.push({ path, values });
  }
  const derived = found.some(({ path }) => path === 'system.fileSystem') ? 'keeps' : null;
  return found.filter(({ path }) => path !== derived);
}

function leavesOf(spec: unknown): Map<string, unknown> {
  // As a spec writes it.
  const written = (path: string): string =>
    path.replace(/^device\./, '').replace(/^workload\.parameters\./, 'workload.');
  return new Map([...specLeaves(spec)].map(([path, value]) => [written(path), value]));
}
