import { existsSync } from 'node:fs';
import { UsageError } from '../report-error.js';
import { bytesOf } from './byte-text.js';

/** A path on the command line: of this machine, or inside an image. Paths are byte strings. */
export interface Place {
  /** File name of the image, or null: a path of this machine. */
  readonly image: string | null;
  readonly path: string;
}

/** `IMAGE:/path`, or a path of this machine, also one with `:/` in it if there is such a file. */
export function placeOf(argument: string): Place {
  const colon = argument.indexOf(':/');
  if (colon <= 0 || existsSync(argument)) return { image: null, path: bytesOf(argument) };
  return { image: argument.slice(0, colon), path: bytesOf(argument.slice(colon + 1)) };
}

/** `IMAGE:/path`; `IMAGE` alone is its root. @throws UsageError for an empty name */
export function imagePlaceOf(argument: string): { readonly image: string; readonly path: string } {
  const { image, path } = placeOf(argument);
  if (argument === '') throw new UsageError('IMAGE is empty, expected the name of an image file.');
  return image === null ? { image: argument, path: '/' } : { image, path };
}
