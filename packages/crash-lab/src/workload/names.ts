import type { Step } from './workload.js';

/** A file of the model that says which steps are legal. */
interface Named {
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly target: string;
  /** Names of extended attributes, each followed by a space. */
  readonly attributes: string;
}

const FILE: Named = { kind: 'file', target: '', attributes: '' };
const DIRECTORY: Named = { kind: 'directory', target: '', attributes: '' };
/** Links that are followed before a loop is assumed. */
const MOST_LINKS = 8;

/** The directory that holds a path. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** Which names exist: enough to know whether a step would succeed. Links of one file are not told from copies. */
export class Names {
  private entries: Map<string, Named> = new Map([['', DIRECTORY]]);

  copy(): Names {
    const copy = new Names();
    copy.entries = new Map(this.entries);
    return copy;
  }

  /** What a path leads to, symbolic links followed: its own path, or null. */
  resolve(path: string): string | null {
    let at = path;
    for (let links = 0; links < MOST_LINKS; links++) {
      const there = this.entries.get(at);
      if (there === undefined) return null;
      if (there.kind !== 'symlink') return at;
      at = targetFrom(parentOf(at), there.target);
    }
    return null;
  }

  /** Paths of a kind, in the order in which they came. */
  ofKind(kind: 'file' | 'directory'): string[] {
    const paths: string[] = [];
    for (const [path, there] of this.entries) if (there.kind === kind) paths.push(path);
    return paths;
  }

  /** Does a step; false, and nothing is changed, if it would fail. */
  apply(step: Step): boolean {
    const [name] = step;
    const [a, b] = [String(step[1]), String(step[2])];
    switch (name) {
      case 'create':
        return this.add(a, FILE);
      case 'mkdir':
        return this.add(a, DIRECTORY);
      case 'symlink':
        return this.add(b, { kind: 'symlink', target: a, attributes: '' });
      case 'unlink':
        return this.kind(a) !== 'directory' && this.entries.delete(a);
      case 'rmdir':
        return a !== '' && this.kind(a) === 'directory' && this.empty(a) && this.entries.delete(a);
      case 'link': {
        const there = this.entries.get(a);
        return there !== undefined && there.kind !== 'directory' && this.add(b, there);
      }
      case 'rename':
        return this.rename(a, b);
      case 'rename-noreplace':
        return !this.entries.has(b) && this.rename(a, b);
      case 'exchange':
        return this.exchange(a, b);
      default:
        return this.onFile(step);
    }
  }

  private kind(path: string): Named['kind'] | null {
    return this.entries.get(path)?.kind ?? null;
  }

  private empty(path: string): boolean {
    for (const other of this.entries.keys()) if (other.startsWith(`${path}/`)) return false;
    return true;
  }

  private add(path: string, what: Named): boolean {
    if (path === '' || this.entries.has(path) || this.kind(parentOf(path)) !== 'directory') return false;
    this.entries.set(path, what);
    return true;
  }

  private rename(from: string, to: string): boolean {
    const [moved, replaced] = [this.entries.get(from), this.entries.get(to)];
    if (moved === undefined || from === '' || to === '' || this.kind(parentOf(to)) !== 'directory') return false;
    if (from === to) return true;
    if (to.startsWith(`${from}/`) || from.startsWith(`${to}/`)) return false;
    if (replaced !== undefined) {
      if ((moved.kind === 'directory') !== (replaced.kind === 'directory')) return false;
      if (replaced.kind === 'directory' && !this.empty(to)) return false;
    }
    this.move(from, to);
    return true;
  }

  private exchange(a: string, b: string): boolean {
    if (!this.entries.has(a) || !this.entries.has(b) || a === '' || b === '') return false;
    if (a === b) return true;
    if (a.startsWith(`${b}/`) || b.startsWith(`${a}/`)) return false;
    this.move(a, '\0');
    this.move(b, a);
    this.move('\0', b);
    return true;
  }

  private move(from: string, to: string): void {
    for (const [path, what] of [...this.entries]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.entries.delete(path);
      this.entries.set(to + path.slice(from.length), what);
    }
  }

  private onFile(step: Step): boolean {
    const [name] = step;
    if (name === 'sync' || name === 'syncfs') return true;
    // Through a symbolic link the same would happen as to its target, which has a path of its own: only the rest is legal.
    const path = name.endsWith('sync') ? this.resolve(String(step[1])) : String(step[1]);
    const there = path === null ? undefined : this.entries.get(path);
    if (path === null || there === undefined || there.kind === 'symlink') return false;
    switch (name) {
      case 'setxattr':
        this.entries.set(path, { ...there, attributes: `${there.attributes}${step[2]} ` });
        return true;
      case 'removexattr': {
        const attribute = `${step[2]} `;
        if (!there.attributes.includes(attribute)) return false;
        this.entries.set(path, { ...there, attributes: there.attributes.replaceAll(attribute, '') });
        return true;
      }
      case 'chmod':
      case 'chown':
      case 'fsync':
      case 'fdatasync':
        return true;
      default:
        return there.kind === 'file';
    }
  }
}

/** Where a symbolic link in a directory leads to. */
function targetFrom(directory: string, target: string): string {
  let [from, rest] = [directory, target];
  while (rest.startsWith('../')) {
    from = parentOf(from);
    rest = rest.slice(3);
  }
  return from === '' ? rest : `${from}/${rest}`;
}
