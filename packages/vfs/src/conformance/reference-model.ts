import type { Outcome, SteppedModel } from './linearize.js';

/** One operation of one process: a name and its arguments, as text. */
export interface Operation {
  readonly name: string;
  readonly path: string;
  readonly other: string;
  readonly text: string;
  readonly size: number;
}

interface Thing {
  readonly kind: 'file' | 'directory';
  text: string;
  links: number;
}

/** A small tree: files and empty directories under paths that never change, and one open file of each process. */
export class ReferenceModel implements SteppedModel<Operation> {
  private names: Map<string, number> = new Map();
  private things: Thing[] = [];
  private readonly open: number[];
  /** What the first step of each process's operation has found, −1: it has taken none. */
  private readonly held: number[];

  constructor(processes: number) {
    this.open = new Array<number>(processes).fill(-1);
    this.held = new Array<number>(processes).fill(-1);
  }

  copy(): ReferenceModel {
    const copy = new ReferenceModel(0);
    copy.names = new Map(this.names);
    copy.things = this.things.map((thing) => ({ ...thing }));
    copy.open.push(...this.open);
    copy.held.push(...this.held);
    return copy;
  }

  /** The same text for the same state, whatever way led there but for the order in which things were made. */
  key(): string {
    return `${[...this.names].sort().join()}|${this.things.map(({ kind, text, links }) => `${kind}${text}.${links}`).join()}|${this.open.join()}|${this.held.join()}`;
  }

  /** Every path with what it leads to; names of one file share a number. */
  listing(): string {
    const numbers: number[] = [];
    return [...this.names]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, at]) => {
        if (!numbers.includes(at)) numbers.push(at);
        const { kind, text, links } = this.things[at];
        return `${path}=${numbers.indexOf(at)}:${kind === 'file' ? `${text}.${links}` : kind}`;
      })
      .join(' ');
  }

  step(process: number, operation: Operation): Outcome {
    const found = this.names.get(operation.path) ?? -1;
    const outcome = this.act(process, operation, this.held[process]);
    this.held[process] = outcome === null ? found : -1;
    return outcome;
  }

  /** `held`: what an earlier step of the operation has found, −1 before. */
  private act(process: number, { name, path, other, text, size }: Operation, held: number): Outcome {
    const at = this.names.get(path) ?? -1;
    const thing = at < 0 ? undefined : this.things[at];
    switch (name) {
      case 'create':
        if (thing !== undefined) return 'EEXIST';
        this.open[process] = this.add(path, 'file');
        return 'ok';
      case 'open':
        if (thing === undefined) return 'ENOENT';
        if (thing.kind === 'directory') return 'EISDIR';
        this.open[process] = at;
        return 'ok';
      case 'openOrCreate':
        if (thing?.kind === 'directory') return 'EISDIR';
        this.open[process] = thing === undefined ? this.add(path, 'file') : at;
        return 'ok';
      case 'mkdir':
        if (thing !== undefined) return 'EEXIST';
        this.add(path, 'directory');
        return 'ok';
      case 'unlink':
        if (thing === undefined) return 'ENOENT';
        if (thing.kind === 'directory') return 'EISDIR';
        this.remove(path, thing);
        return 'ok';
      case 'rmdir':
        if (thing === undefined) return 'ENOENT';
        if (thing.kind === 'file') return 'ENOTDIR';
        this.remove(path, thing);
        return 'ok';
      case 'rename':
        return this.rename(path, other);
      case 'link':
        return held < 0 ? (thing === undefined ? 'ENOENT' : null) : this.link(held, other);
      case 'truncate':
        if (held < 0) return thing === undefined ? 'ENOENT' : thing.kind === 'directory' ? 'EISDIR' : null;
        this.things[held].text = resized(this.things[held].text, size);
        return 'ok';
      case 'stat':
        if (held < 0) return thing === undefined ? 'ENOENT' : null;
        return describe(this.things[held]);
      case 'list':
        return this.list(path);
      default:
        return this.onOpen(process, name, text, size);
    }
  }

  private onOpen(process: number, name: string, text: string, size: number): Outcome {
    const at = this.open[process];
    if (at < 0) return 'EBADF';
    const thing = this.things[at];
    switch (name) {
      case 'append':
        thing.text += text;
        return 'ok';
      case 'read':
        return thing.text;
      case 'ftruncate':
        thing.text = resized(thing.text, size);
        return 'ok';
      case 'fstat':
        return describe(thing);
      case 'close':
        this.open[process] = -1;
        return 'ok';
      default:
        return 'ok';
    }
  }

  private add(path: string, kind: Thing['kind']): number {
    this.things.push({ kind, text: '', links: 1 });
    this.names.set(path, this.things.length - 1);
    return this.things.length - 1;
  }

  private remove(path: string, thing: Thing): void {
    this.names.delete(path);
    thing.links--;
  }

  private rename(path: string, other: string): Outcome {
    const from = this.names.get(path);
    if (from === undefined) return 'ENOENT';
    const to = this.names.get(other);
    if (to === from) return 'ok';
    if (to !== undefined) {
      if (this.things[from].kind === 'directory' && this.things[to].kind === 'file') return 'ENOTDIR';
      if (this.things[from].kind === 'file' && this.things[to].kind === 'directory') return 'EISDIR';
      this.things[to].links--;
    }
    this.names.delete(path);
    this.names.set(other, from);
    return 'ok';
  }

  private link(at: number, other: string): Outcome {
    if (this.names.has(other)) return 'EEXIST';
    const thing = this.things[at];
    if (thing.kind === 'directory') return 'EPERM';
    if (thing.links === 0) return 'ENOENT';
    thing.links++;
    this.names.set(other, at);
    return 'ok';
  }

  private list(directory: string): string {
    const names: string[] = [];
    for (const path of this.names.keys()) {
      if (path.startsWith(`${directory}/`)) names.push(path.slice(directory.length + 1));
    }
    return names.sort().join();
  }
}

function resized(text: string, size: number): string {
  return text.slice(0, size).padEnd(size, '\0');
}

function describe({ kind, text, links }: Thing): string {
  return kind === 'file' ? `file ${text.length} ${links}` : 'directory';
}
