import { canonicalJson } from '@flashstack/experiment';
import { leaves } from '../spec-text.js';
import { lineStyle, type Token } from '../tokens.js';
import type { RunView } from '../view.js';

/** What is compared: a drive with its configuration; or a workload, where all drives are the same. */
export interface System {
  readonly name: string;
  readonly token: Token;
  readonly dash: string | undefined;
  readonly marker: Marker;
}

/** Shape of a system's points. */
type Marker = 'circle' | 'diamond' | 'square' | 'triangle';

/** Results that differ in nothing but the seed. */
export interface Group {
  readonly system: number;
  readonly workload: number;
  readonly views: readonly RunView[];
}

/** Results sorted into systems and workloads. */
export interface Comparison {
  readonly systems: readonly System[];
  /** Name of the drive that all systems share, or an empty string. */
  readonly drive: string;
  /** Names of the workloads; one without a name if the systems are workloads. */
  readonly workloads: readonly string[];
  readonly groups: readonly Group[];
  /** Index of the system that the others are compared with. */
  readonly baseline: number;
  /** Keys of the spec in which systems differ, each with a value per system. */
  readonly differences: readonly Difference[];
  /** Number of keys in which they do not. */
  readonly equalKeys: number;
}

/** A key of the spec in which systems differ. */
export interface Difference {
  readonly key: string;
  readonly values: readonly string[];
}

const MARKERS: readonly Marker[] = ['circle', 'diamond', 'square', 'triangle'];
/** Keys that tell systems of one name apart, in their names. */
const NAMING_KEYS = 2;
/** What a key that a system does not have is shown as. */
const ABSENT = '–';

/** Sorts results into systems and workloads, in order of their first appearance. */
export function compare(views: readonly RunView[], baselineView: number): Comparison {
  const parts = views.map(partsOf);
  const systemKeys = distinct(parts.map(({ system }) => canonicalJson(system)));
  const workloadKeys = distinct(parts.map(({ workload }) => canonicalJson(workload)));
  // With one drive and several workloads, the workloads are what is compared.
  const swapped = systemKeys.length === 1 && workloadKeys.length > 1;
  const systemOf = parts.map((part) =>
    index(swapped ? workloadKeys : systemKeys, swapped ? part.workload : part.system),
  );
  const workloadOf = parts.map((part) => (swapped ? 0 : index(workloadKeys, part.workload)));
  const specs = firstOf(systemOf).map((at) => (swapped ? parts[at].workload : parts[at].system));
  const names = namesOf(
    firstOf(systemOf).map((at) => (swapped ? views[at].workload : views[at].device)),
    specs.map((spec) => leaves(spec)),
  );
  const baseline = systemOf[baselineView];
  const first = firstOf(workloadOf);
  const workloads = namesOf(
    first.map((at) => (swapped ? '' : views[at].workload)),
    first.map((at) => leaves(parts[at].workload)),
  );
  const groups: { system: number; workload: number; views: RunView[] }[] = [];
  for (const [at, view] of views.entries()) {
    const found = groups.find((group) => group.system === systemOf[at] && group.workload === workloadOf[at]);
    if (found === undefined) groups.push({ system: systemOf[at], workload: workloadOf[at], views: [view] });
    else found.views.push(view);
  }
  const keys = differencesOf(specs.map((spec) => leaves(spec)));
  const drives = distinct(views.map((view) => view.device));
  const drive = drives.length === 1 && !names.includes(drives[0]) ? drives[0] : '';
  return { systems: styled(names, baseline), drive, workloads, groups, baseline, ...keys };
}

/** The group of a system under a workload, or null if nobody ran it. */
export function groupOf(comparison: Comparison, workload: number, system: number): Group | null {
  return comparison.groups.find((group) => group.workload === workload && group.system === system) ?? null;
}

function partsOf(view: RunView): { system: object; workload: object } {
  const { device, precondition, workload, seed: _seed, ...how } = view.result.spec;
  const { modules, ...rest } = how as typeof how & { modules?: unknown };
  return {
    system: { device, precondition, ...(modules === undefined ? {} : { modules }) },
    workload: { workload, ...rest },
  };
}

function distinct(keys: readonly string[]): string[] {
  return [...new Set(keys)];
}

function index(keys: readonly string[], part: object): number {
  return keys.indexOf(canonicalJson(part));
}

/** Where each number from 0 on appears first. */
function firstOf(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].map((number) => numbers.indexOf(number));
}

/** Names, made distinct by what differs between those that share one. */
function namesOf(names: readonly string[], specs: readonly ReadonlyMap<string, string>[]): string[] {
  const full = names.map((name, at) => {
    const same = names.flatMap((other, i) => (other === name ? [specs[i]] : []));
    if (same.length === 1) return name;
    const told = differencesOf(same).differences.slice(0, NAMING_KEYS);
    const own = told.map(({ key }) => `${key.slice(key.lastIndexOf('.') + 1)} ${specs[at].get(key) ?? ABSENT}`);
    // A name that all share tells nothing.
    const parts = same.length === names.length && own.length > 0 ? own : [name, ...own];
    return parts.filter((part) => part !== '').join(', ');
  });
  return full.map((name, at) => (full.indexOf(name) === at ? name : `${name} (${at + 1})`));
}

function differencesOf(specs: readonly ReadonlyMap<string, string>[]): {
  differences: Difference[];
  equalKeys: number;
} {
  const keys = [...new Set(specs.flatMap((spec) => [...spec.keys()]))];
  const differences = keys
    .map((key): Difference => ({ key, values: specs.map((spec) => spec.get(key) ?? ABSENT) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
  return { differences, equalKeys: keys.length - differences.length };
}

/** The baseline is neutral and dashed; the others take the free colours in order, then again with another dash. */
function styled(names: readonly string[], baseline: number): System[] {
  let other = 0;
  return names.map((name, at): System => {
    const marker = MARKERS[at % MARKERS.length];
    if (at === baseline) return { name, token: 'ext4', dash: '6 4', marker };
    return { name, ...lineStyle(other++), marker };
  });
}
