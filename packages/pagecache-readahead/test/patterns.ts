import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { fixtureUrl } from '@flashstack/fixtures';
import { MemoryAdvice } from '@flashstack/vfs';
import { ReadaheadFile, type ReadaheadLimits, type ReadaheadPolicy, type ReadaheadState } from '../src/index.js';

/** A run of pages: first and count. */
export type Run = readonly [number, number];
/** What was asked, the pages that came, the pages that went. */
export type Step = readonly [string, readonly Run[], (readonly Run[])?];

export interface Pattern {
  readonly name: string;
  readonly filePages: number;
  readonly readAheadKb: number;
  readonly maxSectorsKb: number;
  readonly runs: Readonly<Record<'order0' | 'large', { readonly steps: readonly Step[] }>>;
}

export function fixture<T>(name: string): T {
  return JSON.parse(gunzipSync(readFileSync(fixtureUrl(name))).toString()) as T;
}

/** Pages put into runs. */
export function runsOf(pages: Iterable<number>): Run[] {
  const runs: [number, number][] = [];
  for (const page of [...pages].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[1] === page) last[1]++;
    else runs.push([page, 1]);
  }
  return runs;
}

/** Plays the steps of a pattern on a file; what each has fetched, request by request, and dropped. */
export class Player {
  private readonly file: ReadaheadFile;
  private readonly mapping: ReadaheadState;
  private one: ReadaheadState;
  private two: ReadaheadState;
  private advice: number = MemoryAdvice.normal;
  private fetched: Run[] = [];
  private readonly filePages: number;

  constructor(policy: ReadaheadPolicy, filePages: number, limits: ReadaheadLimits, largeFolios = false) {
    this.filePages = filePages;
    this.file = new ReadaheadFile(policy, {
      fileBytes: filePages * 4096,
      limits,
      largeFolios,
      onFetch: (first, count) => this.fetched.push([first, count]),
    });
    [this.one, this.two, this.mapping] = [this.file.open(), this.file.open(), this.file.open()];
  }

  step(text: string): { fetched: readonly Run[]; came: readonly Run[]; went: readonly Run[] } {
    this.fetched = [];
    const before = this.cached();
    const second = text.startsWith('2:');
    const words = (second ? text.slice(2) : text).split(' ');
    this.play(words, second ? this.two : this.one);
    const after = this.cached();
    return {
      fetched: this.fetched,
      came: runsOf([...after].filter((page) => !before.has(page))),
      went: runsOf([...before].filter((page) => !after.has(page))),
    };
  }

  private play([what, ...rest]: readonly string[], state: ReadaheadState): void {
    const { file } = this;
    const numbers = rest.map(Number);
    if (what === 'open') this.one = file.open();
    else if (what === 'open2') this.two = file.open();
    else if (what === 'read') file.read(state, numbers[0], numbers[1]);
    else if (what === 'ra') file.willNeed(state, numbers[0], numbers[1]);
    else if (what === 'touch') file.touch(this.mapping, numbers[0], this.advice);
    else if (what === 'madv') this.advice = MemoryAdvice[rest[0] as keyof typeof MemoryAdvice];
    else if (what === 'fadv') this.advise(rest[0], state, numbers[1], numbers[2]);
    else throw new Error(`unknown step ${what}`);
  }

  private advise(kind: string, state: ReadaheadState, offset: number, length: number): void {
    if (kind === 'normal') state.adviseNormal();
    else if (kind === 'sequential') state.adviseSequential();
    else if (kind === 'random') state.adviseRandom();
    else if (kind === 'willneed') this.file.willNeed(state, offset, length);
    else if (kind === 'dontneed') this.file.dontNeed(offset, length);
    else throw new Error(`unknown advice ${kind}`);
  }

  private cached(): Set<number> {
    const pages = new Set<number>();
    for (let page = 0; page < this.filePages; page++) if (this.file.isPresent(page)) pages.add(page);
    return pages;
  }
}
