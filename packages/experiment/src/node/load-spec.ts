import { readFileSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { InputError } from '@flashstack/sim';
import { modulesOf, readDocument } from '../document.js';
import type { Extensions } from '../extensions.js';
import type { TraceRequest } from '../read-workload.js';
import type { ExperimentSpec } from '../spec.js';
import { SpecError } from '../spec-problem.js';
import { importModule, loadModules } from './load-module.js';
import { readYaml, type SpecText } from './yaml-spec.js';

/** A spec from a file, checked, with everything it names loaded except its trace. */
export interface LoadedSpec {
  /** The file's name without folder and extension. */
  readonly name: string;
  readonly spec: ExperimentSpec;
  readonly extensions: Extensions;
  /** The trace it asks for, its path relative to the present folder; null: the workload is synthetic. */
  readonly trace: TraceRequest | null;
}

/** Changes to a spec document before it is read: values by path, such as `{ 'ftl.victim': 'fifo', seed: 2 }`. */
export type SpecChanges = Readonly<Record<string, unknown>>;

/**
 * Reads a spec: YAML or JSON, or a TypeScript or JavaScript module whose default export (or export `spec`) is one.
 * @throws SpecError with file, line and column where the text has them; InputError if the file or a module cannot be read.
 */
export async function loadSpec(file: string, changes: SpecChanges = {}, base?: Extensions): Promise<LoadedSpec> {
  const extension = extname(file).toLowerCase();
  const text = isModule(extension) ? await moduleSpec(file) : readYaml(textOf(file), file);
  return await readSpec(text.data, { name: basename(file, extname(file)), folder: dirname(file), changes, text, base });
}

/** The same for a spec document that is not in a file; paths are relative to `folder`. */
export async function readSpec(
  document: unknown,
  options: {
    readonly name: string;
    readonly folder: string;
    readonly changes?: SpecChanges;
    readonly text?: SpecText;
    /** What the spec can name besides its own modules. Default: what comes with the project. */
    readonly base?: Extensions | undefined;
  },
): Promise<LoadedSpec> {
  const { name, folder, changes = {}, text, base } = options;
  try {
    const changed = changedDocument(document, changes);
    const extensions = await loadModules(modulesOf(changed), folder, base);
    const { spec, trace } = readDocument(changed, extensions);
    const located = trace === null ? null : locatedIn(folder, trace);
    return { name, spec, extensions, trace: located };
  } catch (error) {
    // What a change has put there does not stand in the text.
    if (error instanceof SpecError && text !== undefined && !isChanged(error, changes)) throw text.locate(error);
    // A module that cannot be loaded is named at its key.
    if (error instanceof InputError && error.code === 'ERR_SPEC_MODULE' && text !== undefined) {
      throw text.locate(new SpecError(error.code, error.message, { path: ['modules'], cause: error.cause }));
    }
    throw error;
  }
}

function isChanged({ path }: SpecError, changes: SpecChanges): boolean {
  const name = path.join('.');
  // An error about the name of a strategy is one about the strategy.
  return Object.keys(changes).some((key) => key === name || key === `${name}.name` || name.startsWith(`${key}.`));
}

function locatedIn(folder: string, { path, options }: TraceRequest): TraceRequest {
  const { listing } = options;
  const found = typeof listing === 'string' ? { ...options, listing: relativeTo(folder, listing) } : options;
  return { path: relativeTo(folder, path), options: found };
}

function relativeTo(folder: string, path: string): string {
  return folder === '.' || folder === '' ? path : resolve(folder, path);
}

function isModule(extension: string): boolean {
  return ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'].includes(extension);
}

async function moduleSpec(file: string): Promise<SpecText> {
  // Looked at first: what a loader says about a missing file is about the loader.
  textOf(file);
  const exported = await importModule(file);
  const data = exported.default ?? exported.spec;
  if (data === undefined) {
    throw new SpecError('ERR_SPEC_VALUE', `${file}: expected a default export, or an export named spec.`, { path: [] });
  }
  return { data, locate: (error) => error.in(file) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const known: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EISDIR: 'this is a folder, not a spec',
      EACCES: 'the file may not be read (permission denied)',
    };
    throw new SpecError('ERR_SPEC_UNREADABLE', `${file}: ${known[code] ?? `cannot be read (${code})`}.`, { path: [] });
  }
}

/** The document with values replaced by path; maps on the way are made if they are missing. */
function changedDocument(document: unknown, changes: SpecChanges): unknown {
  let result = document;
  for (const [path, value] of Object.entries(changes)) result = changed(result, path.split('.'), value);
  return result;
}

function changed(node: unknown, steps: readonly string[], value: unknown, path: readonly string[] = []): unknown {
  if (steps.length === 0) return value;
  const [step, ...rest] = steps;
  const into = (child: unknown): unknown => changed(child, rest, value, [...path, step]);
  if (Array.isArray(node)) return node.map((item, at) => (String(at) === step ? into(item) : item));
  const map = typeof node === 'string' ? longForm(path, node) : node;
  const entries = typeof map === 'object' && map !== null ? (map as Readonly<Record<string, unknown>>) : {};
  return { ...entries, [step]: into(entries[step]) };
}

/** Short forms: a device is its preset, a system its file system, a workload its kind or trace, a strategy its name. */
function longForm([section, ...below]: readonly string[], text: string): Readonly<Record<string, unknown>> {
  if (below.length > 0) return { name: text };
  if (section === 'device') return { preset: text };
  if (section === 'system') return { fileSystem: text };
  return section === 'workload' && /[/\\.]/.test(text) ? { trace: text } : { kind: text };
}
