import { readFileSync } from 'node:fs';
import { InputError } from '@flashstack/sim';
import { type ExperimentResult, RESULT_SCHEMA } from '../result.js';
import { HostError } from './host-error.js';
import { writeWhole } from './write-whole.js';

const LIST_OF_NUMBERS = /\[\n\s*(?:-?[\d.eE+-]+|null)(?:,\n\s*(?:-?[\d.eE+-]+|null))*\n\s*\]/g;
const SCHEMA = /^flashstack\.result\/(\d+)$/;

/**
 * Writes a result as JSON, whole or not at all: `FOLDER/NAME.json`, or `FOLDER/NAME.partial.json` if the run was
 * interrupted. The `run.` metrics, which differ from run to run, are left out: equal specs give equal files.
 * @returns the path. @throws HostError.
 */
export function writeResult(result: ExperimentResult, folder: string, name: string): string {
  const suffix = result.partial === null ? '' : '.partial';
  const path = `${folder.replace(/(?<=.)\/+$/, '')}/${name}${suffix}.json`;
  writeWhole(path, resultText(result));
  return path;
}

/** A result without the `run.` metrics: what every run of its spec gives, for files that are to be the same each time. */
export function repeatable(result: ExperimentResult): ExperimentResult {
  const metrics = Object.entries(result.metrics).filter(([name]) => !name.startsWith('run.'));
  return { ...result, metrics: Object.fromEntries(metrics) };
}

/** A result as the text of its file: JSON, without the `run.` metrics unless they are wanted. */
export function resultText(result: ExperimentResult, withRun = false): string {
  const text = JSON.stringify(withRun ? result : repeatable(result), null, 1);
  // Lists of numbers on one line. A text of JSON never holds a line break, so only lists are met.
  const flat = text.replace(LIST_OF_NUMBERS, (list) => list.replaceAll(/\n\s*/g, ''));
  return `${flat}\n`;
}

/**
 * Reads the file of a result.
 * @throws InputError `ERR_RESULT_FORMAT` if it is none, `ERR_RESULT_SCHEMA` if a newer version wrote it; HostError if
 * the file may not be read.
 */
export function readResult(path: string): ExperimentResult {
  const refuse = (code: string, what: string): InputError => new InputError(code, `${path}: ${what}`, path);
  let value: unknown;
  try {
    value = JSON.parse(textOf(path)) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse('ERR_RESULT_FORMAT', `this is no result of flashstack: it is no JSON (${error.message}).`);
  }
  const schema = (value as { schema?: unknown } | null)?.schema;
  const version = typeof schema === 'string' ? SCHEMA.exec(schema) : null;
  if (version === null) {
    throw refuse('ERR_RESULT_FORMAT', 'this is no result of flashstack: it has no schema "flashstack.result/…".');
  }
  if (schema === RESULT_SCHEMA) {
    const broken = brokenPart(value as Readonly<Record<string, unknown>>);
    if (broken === null) return value as ExperimentResult;
    throw refuse('ERR_RESULT_FORMAT', `this result is damaged: ${broken}. Run its spec again.`);
  }
  const known = (SCHEMA.exec(RESULT_SCHEMA) as RegExpExecArray)[1];
  const newer = Number(version[1]) > Number(known);
  throw refuse(
    'ERR_RESULT_SCHEMA',
    newer
      ? `a newer flashstack wrote this result (${schema}; this one reads ${RESULT_SCHEMA}). Update flashstack to read it.`
      : `the format of this result (${schema}) is no longer read. Run its spec again.`,
  );
}

const maps = ['spec', 'versions', 'metrics', 'histograms', 'series', 'heatmaps', 'distributions', 'analysis'] as const;
const specMaps = ['device', 'workload'] as const;

/** What a result has lost, such as "it has no metrics"; null: every part is there. */
function brokenPart(value: Readonly<Record<string, unknown>>): string | null {
  for (const key of maps) if (!isMap(value[key])) return `it has no ${key}`;
  if (typeof value.specHash !== 'string') return 'it has no specHash';
  if (typeof value.seed !== 'number') return 'it has no seed';
  if (typeof value.preconditioned !== 'string') return 'it has no preconditioned';
  for (const key of ['partial', 'warmup']) {
    if (value[key] !== null && !isMap(value[key])) return `it has no ${key}`;
  }
  if (!Array.isArray(value.writeFlow)) return 'it has no writeFlow';
  const spec = value.spec as Readonly<Record<string, unknown>>;
  for (const key of [...specMaps, isMap(spec.system) ? 'system' : 'loop']) {
    if (!isMap(spec[key])) return `its spec has no ${key}`;
  }
  const metrics = value.metrics as Readonly<Record<string, unknown>>;
  const odd = Object.keys(metrics).find((key) => metrics[key] !== null && typeof metrics[key] !== 'number');
  return odd === undefined ? null : `the metric ${odd} is no number`;
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new InputError('ERR_RESULT_UNREADABLE', `${path}: there is no such file.`, path);
    if (code === 'EISDIR') {
      throw new InputError('ERR_RESULT_UNREADABLE', `${path}: this is a folder, not the file of a result.`, path);
    }
    throw new HostError(`${path}: ${code === 'EACCES' ? 'permission denied' : code}.`);
  }
}
