import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('../', import.meta.url));

interface Manifest {
  name: string;
  private?: boolean;
  version?: string;
  description?: string;
  license?: string;
  type?: string;
  sideEffects?: boolean;
  engines?: Record<string, string>;
  exports?: Record<string, string | Record<string, string>>;
  publishConfig?: { access?: string; exports?: Record<string, string | Record<string, string>> };
  files?: string[];
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export interface Member {
  /** Folder below the root, as `packages/sim`. */
  folder: string;
  manifest: Manifest;
}

/** Every package and app of the workspace. */
export function members(): Member[] {
  return ['packages', 'apps'].flatMap((top) =>
    readdirSync(`${root}${top}`)
      .map((name) => `${top}/${name}`)
      .filter((folder) => existsSync(`${root}${folder}/package.json`))
      .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(`${root}${folder}/package.json`, 'utf8')) })),
  );
}

/** Files below `folder` whose name ends in `suffix`, as paths below the root. */
export function filesBelow(folder: string, suffix: string): string[] {
  if (!existsSync(`${root}${folder}`)) return [];
  return readdirSync(`${root}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return entry.name === 'node_modules' || entry.name === 'dist' ? [] : filesBelow(path, suffix);
    return entry.name.endsWith(suffix) ? [path] : [];
  });
}

/** The documentation as it was written, paths below the root: without changelogs and the generated API reference. */
export function documents(): string[] {
  return ['README.md', ...['packages', 'apps', 'docs'].flatMap((top) => filesBelow(top, '.md'))].filter(
    (path) => !path.startsWith('docs/reference/api/') && !path.endsWith('/CHANGELOG.md'),
  );
}

export interface Import {
  file: string;
  line: number;
  specifier: string;
}

/** Import and re-export specifiers of a source file, static and dynamic. Comments are left out of account. */
export function importsOf(file: string): Import[] {
  const source = readFileSync(`${root}${file}`, 'utf8');
  const text = source
    .replace(/\/\*.*?\*\//gs, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/^\s*\/\/.*$/gm, '');
  const pattern =
    /(?:^|[\s;}])(?:import|export)\s*(?:type\s*)?(?:[\w*${}\s,]*?from\s*)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g;
  return [...text.matchAll(pattern)].map((match) => ({
    file,
    line: text.slice(0, match.index + match[0].length).split('\n').length,
    specifier: match[1] ?? match[2] ?? '',
  }));
}
