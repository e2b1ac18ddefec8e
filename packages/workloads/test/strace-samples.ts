import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { fixtureNames, fixtureUrl } from '@flashstack/fixtures';
import { parseListing, type TreeEntry } from '../src/index.js';

/** Counts of a capture, made by an independent script. */
interface StraceCounts {
  readonly lines: number;
  readonly processes: number;
  readonly resumed_merged: number;
  readonly calls: Readonly<Record<string, number>>;
  readonly failed: Readonly<Record<string, number>>;
  readonly under_root: {
    readonly read: { readonly calls: number; readonly bytes: number };
    readonly write: { readonly calls: number; readonly bytes: number };
  };
}

/** A recorded run of a real program below `/mnt/bench`. */
export interface StraceSample {
  readonly name: string;
  readonly strace: URL;
  readonly counts: StraceCounts;
  /** What was there before and after; null if that was not recorded. */
  readonly initial: readonly TreeEntry[] | null;
  readonly final: readonly TreeEntry[] | null;
}

const captures = new URL('../../../../shared/data/workloads/captures/', import.meta.url);
const ours = fixtureNames.filter((name) => name.endsWith('.strace.gz')).map((name) => name.replace('.strace.gz', ''));
const more = [
  'f2fs-sqlite-wal',
  'f2fs-tar-extract',
  'filebench-varmail',
  'git-clone-commit',
  'npm-install',
  'postgres',
  'sqlite-delete',
  'sqlite-wal',
];

function sample(name: string, url: (ending: string) => URL, counts: string): StraceSample {
  const listing = (ending: string): TreeEntry[] | null => {
    const file = url(ending);
    return existsSync(file) ? parseListing(gunzipSync(readFileSync(file)).toString('latin1')) : null;
  };
  return {
    name,
    strace: url('.strace.gz'),
    counts: (JSON.parse(readFileSync(url(counts), 'utf8')) as { strace: StraceCounts }).strace,
    initial: listing('.initial.ls.gz'),
    final: listing('.final.ls.gz'),
  };
}

/** The captures that come with the project, and the larger ones if they lie beside the checkout. */
export function straceSamples(): StraceSample[] {
  const samples = ours.map((name) => sample(name, (ending) => fixtureUrl(`${name}${ending}`), '.strace.json'));
  if (!existsSync(captures)) {
    console.warn('SKIPPED: the larger captures of system calls are not beside this checkout');
    return samples;
  }
  return [...samples, ...more.map((name) => sample(name, (ending) => new URL(name + ending, captures), '.stats.json'))];
}
