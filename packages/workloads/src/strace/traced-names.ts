import { collapsed, joined } from './trace-root.js';

/** Links that a path is followed through at most. */
const MOST_LINKS = 40;

/** Which names of a trace lead to which files, as far as the trace tells: numbers of files that survive renames and links. */
export class TracedNames {
  private readonly files = new Map<string, number>();
  /** Symbolic links and where they lead. */
  private readonly links = new Map<string, string>();
  private count = 0;

  /** The file that a path leads to. */
  file(path: string): number {
    const real = this.followed(path);
    let found = this.files.get(real);
    if (found === undefined) {
      found = this.count++;
      this.files.set(real, found);
    }
    return found;
  }

  /** The path without the symbolic links that it leads through, as far as they are known. */
  followed(path: string): string {
    if (this.links.size === 0) return path;
    let at = path;
    for (let left = MOST_LINKS; left > 0; left--) {
      const next = this.step(at);
      if (next === at) return at;
      at = next;
    }
    return at;
  }

  link(path: string, other: string): void {
    this.files.set(other, this.file(path));
  }

  symlink(target: string, path: string): void {
    this.links.set(path, collapsed(joined(parentOf(path), target)));
  }

  removed(path: string): void {
    this.files.delete(path);
    this.links.delete(path);
  }

  renamed(from: string, to: string, exchange: boolean): void {
    for (const names of [this.files, this.links] as Map<string, unknown>[]) {
      const moving = takeBelow(names, from);
      const replaced = takeBelow(names, to);
      for (const [rest, value] of moving) names.set(to + rest, value);
      if (exchange) for (const [rest, value] of replaced) names.set(from + rest, value);
    }
  }

  private step(path: string): string {
    for (let slash = path.indexOf('/', 1); ; slash = path.indexOf('/', slash + 1)) {
      const target = this.links.get(slash < 0 ? path : path.slice(0, slash));
      if (target !== undefined) return slash < 0 ? target : target + path.slice(slash);
      if (slash < 0) return path;
    }
  }
}

/** Takes a name and all names below out of a table: what follows the name, and what it stood for. */
function takeBelow(names: Map<string, unknown>, path: string): [string, unknown][] {
  const taken: [string, unknown][] = [];
  for (const [name, value] of names) {
    if (name !== path && !name.startsWith(`${path}/`)) continue;
    taken.push([name.slice(path.length), value]);
    names.delete(name);
  }
  return taken;
}

/** The directory of an absolute path. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}
