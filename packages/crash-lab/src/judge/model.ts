import { BASE_STATES } from '../workload/base-states.js';
import { versionOf } from '../workload/contents.js';
import { parentOf } from '../workload/names.js';
import type { Step } from '../workload/workload.js';
import { FileObject, type Name } from './file-object.js';
import { allocate, type ModelWrite, truncate, write } from './model-data.js';

/** Links that are followed before a loop is assumed. */
const MOST_LINKS = 40;

/** An operation that is applied. */
export interface ModelStep {
  readonly step: Step;
  /** Program that does it, whose handles it uses. */
  readonly process: number;
  /** Position from which its effect counts. */
  readonly position: number;
  /** Of the contents that it writes. */
  readonly version: number;
  /** Bytes that it has written, −1: all. */
  readonly bytes: number;
  /** It failed: a write may have left a part of its bytes. */
  readonly failed: boolean;
}

/** What an operation was about, for what it makes durable. */
export interface Effect {
  /** The file or directory that it worked on; null: none or all. */
  readonly object: FileObject | null;
  /** Range of a write, bytes. */
  readonly offset: number;
  readonly end: number;
}

const NOTHING: Effect = { object: null, offset: 0, end: 0 };

/** The files that a workload works on, with all their states. */
export class Model {
  readonly root: FileObject = new FileObject('directory', 0, 0o755);
  /** All that ever were, the root first. */
  readonly objects: FileObject[] = [this.root];
  private readonly handles: Map<string, { readonly object: FileObject; readonly path: string }> = new Map();

  /** The durable state of a name in `BASE_STATES`. */
  constructor(base: string) {
    for (const [step, what] of BASE_STATES[base].entries()) {
      const version = versionOf(-1, step);
      const effect = this.apply({ step: what, process: -1, position: 0, version, bytes: -1, failed: false });
      if (effect === null) throw new RangeError(`step ${step} of the base state ${base} fails`);
    }
  }

  /** What a path leads to now. `follow`: a symbolic link at its end is followed. */
  resolve(path: string, follow: boolean, links = 0): FileObject | null {
    let at: FileObject | null = this.root;
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    for (const [number, part] of parts.entries()) {
      if (at?.kind !== 'directory') return null;
      const next: FileObject | null =
        part === '..' ? (at.names.current[0]?.directory ?? at) : (at.entries.get(part)?.current ?? null);
      if (next?.kind === 'symlink' && (follow || number < parts.length - 1)) {
        if (links >= MOST_LINKS || next.target.startsWith('/')) return null;
        const rest = parts.slice(number + 1).join('/');
        return this.resolve(`${at.pathAt(Number.POSITIVE_INFINITY)}/${next.target}/${rest}`, follow, links + 1);
      }
      at = next;
    }
    return at;
  }

  /** Applies an operation; null, and nothing is changed, if it cannot succeed in this state. */
  apply(what: ModelStep): Effect | null {
    const { step, position } = what;
    const [name] = step;
    const [a, b] = [String(step[1]), String(step[2])];
    switch (name) {
      case 'create':
        return this.make(a, new FileObject('file', position, 0o644), position);
      case 'mkdir':
        return this.make(a, new FileObject('directory', position, 0o755), position);
      case 'symlink':
        return this.make(b, new FileObject('symlink', position, 0o777, a), position);
      case 'unlink':
        return this.remove(a, false, position);
      case 'rmdir':
        return this.remove(a, true, position);
      case 'link':
        return this.link(what, a, b);
      case 'rename':
        return this.rename(a, b, position);
      case 'rename-noreplace':
        return this.resolve(b, false) === null ? this.rename(a, b, position) : null;
      case 'exchange':
        return this.exchange(a, b, position);
      case 'sync':
      case 'syncfs':
        return NOTHING;
      default:
        return this.onFile(what);
    }
  }

  private place(path: string): Name | null {
    const directory = this.resolve(parentOf(path), true);
    const name = path.slice(path.lastIndexOf('/') + 1);
    return directory?.kind !== 'directory' || name === '' ? null : { directory, name };
  }

  private make(path: string, object: FileObject, position: number): Effect | null {
    const place = this.place(path);
    if (place === null || this.resolve(path, false) !== null || gone(place.directory)) return null;
    this.objects.push(object);
    enter(place, object, position);
    return { object, offset: 0, end: 0 };
  }

  private remove(path: string, directory: boolean, position: number): Effect | null {
    const place = this.place(path);
    const object = this.resolve(path, false);
    if (place === null || object === null || (object.kind === 'directory') !== directory) return null;
    if (directory && !empty(object)) return null;
    leave(place, object, position);
    return { object, offset: 0, end: 0 };
  }

  private link(what: ModelStep, from: string, to: string): Effect | null {
    const place = this.place(to);
    const object = from.startsWith('#') ? (this.handle(what, from)?.object ?? null) : this.resolve(from, false);
    if (place === null || object === null || object.kind === 'directory' || this.resolve(to, false) !== null)
      return null;
    enter(place, object, what.position);
    return { object, offset: 0, end: 0 };
  }

  private rename(from: string, to: string, position: number): Effect | null {
    const [old, place] = [this.place(from), this.place(to)];
    const [object, replaced] = [this.resolve(from, false), this.resolve(to, false)];
    if (old === null || place === null || object === null) return null;
    if (object === replaced) return { object, offset: 0, end: 0 };
    if (object.kind === 'directory' && within(place.directory, object)) return null;
    if (replaced !== null) {
      if ((object.kind === 'directory') !== (replaced.kind === 'directory') || !empty(replaced)) return null;
      leave(place, replaced, position);
    }
    leave(old, object, position);
    enter(place, object, position);
    return { object, offset: 0, end: 0 };
  }

  private exchange(a: string, b: string, position: number): Effect | null {
    const [first, second] = [this.place(a), this.place(b)];
    const [one, other] = [this.resolve(a, false), this.resolve(b, false)];
    if (first === null || second === null || one === null || other === null) return null;
    if (one === other) return { object: one, offset: 0, end: 0 };
    if (one.kind === 'directory' && within(second.directory, one)) return null;
    if (other.kind === 'directory' && within(first.directory, other)) return null;
    leave(first, one, position);
    leave(second, other, position);
    enter(first, other, position);
    enter(second, one, position);
    return { object: one, offset: 0, end: 0 };
  }

  private handle({ process }: ModelStep, name: string): { object: FileObject; path: string } | null {
    return this.handles.get(`${process}${name}`) ?? null;
  }

  private onFile(what: ModelStep): Effect | null {
    const { step, position, process } = what;
    const [name] = step;
    const [a, b] = [String(step[1]), String(step[2])];
    if (name === 'tmpfile') {
      if (this.resolve(b, true)?.kind !== 'directory') return null;
      const object = new FileObject('file', position, 0o644);
      this.objects.push(object);
      this.handles.set(`${process}${a}`, { object, path: a });
      return { object, offset: 0, end: 0 };
    }
    if (name === 'open') {
      const object = this.resolve(b, true);
      if (object?.kind !== 'file') return null;
      this.handles.set(`${process}${a}`, { object, path: b });
      return { object, offset: 0, end: 0 };
    }
    const open = a.startsWith('#') ? this.handle(what, a) : { object: this.resolve(a, true), path: a };
    if (open === null || open.object === null) return null;
    return this.change(what, open.object, open.path);
  }

  private change(what: ModelStep, object: FileObject, path: string): Effect | null {
    const { step, position } = what;
    const [name] = step;
    const b = String(step[2]);
    const whole: Effect = { object, offset: 0, end: 0 };
    switch (name) {
      case 'close':
        this.handles.delete(`${what.process}${step[1]}`);
        return whole;
      case 'fsync':
      case 'fdatasync':
        return whole;
      case 'chmod':
        object.mode.set(position, Number(step[2]));
        return whole;
      case 'chown':
        object.owner.set(position, ownerAfter(object.owner.current, Number(step[2]), Number(step[3])));
        return whole;
      case 'setxattr':
        object.attributes.set(position, new Map([...object.attributes.current, [b, String(step[3])]]));
        return whole;
      case 'removexattr': {
        if (!object.attributes.current.has(b)) return null;
        object.attributes.set(position, new Map([...object.attributes.current].filter(([known]) => known !== b)));
        return whole;
      }
      default:
        return object.kind === 'file' ? changeData(what, object, path) : null;
    }
  }
}

function changeData(what: ModelStep, object: FileObject, path: string): Effect {
  const { step, position, version, bytes, failed } = what;
  const [name] = step;
  const [second, third] = [Number(step[2]), Number(step[3])];
  switch (name) {
    case 'truncate':
      truncate(object, position, second);
      // One more than what was asked for: nothing below the size has been written back, not even its last block.
      return { object, offset: 0, end: second + 1 };
    case 'fallocate':
      return { object, offset: 0, end: allocate(object, position, String(step[2]), third, Number(step[4])) };
    case 'msync':
      return { object, offset: second, end: Math.min(second + third, object.size.current) };
    case 'sync-range':
      return { object, offset: second, end: second + third };
    default: {
      const appends = name.startsWith('append');
      const offset = appends ? object.size.current : second;
      let length = bytes >= 0 ? bytes : appends ? second : third;
      // Beyond the last page of a file there is nothing to store to, behind its end nothing stays.
      if (name === 'store') length = Math.max(0, Math.min(third, object.size.current - offset));
      const data: ModelWrite = { path, version, offset, length, from: appends ? 0 : offset };
      write(object, position, data, failed);
      return { object, offset, end: offset + length };
    }
  }
}

function ownerAfter(owner: string, uid: number, gid: number): string {
  const [before, group] = owner.split(':');
  return `${uid < 0 ? before : uid}:${gid < 0 ? group : gid}`;
}

function enter({ directory, name }: Name, object: FileObject, position: number): void {
  directory.entry(name).set(position, object);
  object.names.set(position, [...object.names.current, { directory, name }]);
}

function leave({ directory, name }: Name, object: FileObject, position: number): void {
  directory.entry(name).set(position, null);
  const stay = object.names.current.filter((other) => other.directory !== directory || other.name !== name);
  object.names.set(position, stay);
}

function empty(object: FileObject): boolean {
  for (const entry of object.entries.values()) if (entry.current !== null) return false;
  return true;
}

/** A directory that has been removed while it was looked at. */
function gone(directory: FileObject): boolean {
  return directory.born > 0 && directory.names.current.length === 0;
}

/** True if a directory is another one or below it. */
function within(directory: FileObject, other: FileObject): boolean {
  for (let at: FileObject | undefined = directory; at !== undefined; at = at.names.current[0]?.directory) {
    if (at === other) return true;
  }
  return false;
}
