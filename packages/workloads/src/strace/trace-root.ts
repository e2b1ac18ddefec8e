/**
 * The part of the traced machine's tree that is replayed: everything below one directory, which a directory of the
 * simulated host stands for.
 */
export class TraceRoot {
  private readonly root: string;
  private readonly target: string;

  /** Absolute paths, such as `/mnt/bench` and `/`. */
  constructor(root: string, target: string) {
    this.root = root === '/' ? '' : root.replace(/\/+$/, '');
    this.target = target === '/' ? '' : target.replace(/\/+$/, '');
  }

  /** True if an absolute path is the root or below it. */
  contains(path: string): boolean {
    const whole = path.includes('/.') || path.includes('//') ? collapsed(path) : path;
    return whole === this.root || whole.startsWith(`${this.root}/`);
  }

  /** The path on the host that stands for an absolute path of the trace below the root. */
  map(path: string): string {
    // As long as it begins with the root, dots are left to the host, whose links they may lead through.
    const whole = path === this.root || path.startsWith(`${this.root}/`) ? path : collapsed(path);
    const rest = whole.slice(this.root.length);
    return this.target + (rest === '' ? '/' : rest);
  }
}

/** A path as seen from a directory; absolute ones stay as they are. */
export function joined(directory: string, path: string): string {
  if (path.startsWith('/')) return path;
  if (path === '' || path === '.') return directory;
  return directory === '/' ? `/${path}` : `${directory}/${path}`;
}

/** Without empty parts, `.` and `..`; links are not looked at. */
export function collapsed(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
