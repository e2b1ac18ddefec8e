import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import * as blockDevice from '@flashstack/block-device';
import * as ftl from '@flashstack/ftl';
import * as host from '@flashstack/host';
import * as nandDevice from '@flashstack/nand-device';
import * as pagecacheReadahead from '@flashstack/pagecache-readahead';
import * as sim from '@flashstack/sim';
import { InputError } from '@flashstack/sim';
import * as ssd from '@flashstack/ssd';
import * as vfs from '@flashstack/vfs';
import * as workloads from '@flashstack/workloads';
import { createJiti } from 'jiti';
import { type Extensions, extend, noExtensions } from '../extensions.js';
import { sha256 } from '../sha256.js';

/** What a module of the user's own may import, wherever it lies: the very packages that run it. */
const packages: Readonly<Record<string, unknown>> = {
  '@flashstack/block-device': blockDevice,
  '@flashstack/ftl': ftl,
  '@flashstack/host': host,
  '@flashstack/nand-device': nandDevice,
  '@flashstack/pagecache-readahead': pagecacheReadahead,
  '@flashstack/sim': sim,
  '@flashstack/ssd': ssd,
  '@flashstack/vfs': vfs,
  '@flashstack/workloads': workloads,
};

/** Runs a JavaScript or TypeScript module and returns its exports. @throws InputError `ERR_SPEC_MODULE`, naming it. */
export async function importModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  const jiti = createJiti(import.meta.url, {
    fsCache: false,
    moduleCache: false,
    interopDefault: false,
    virtualModules: packages,
  });
  try {
    return (await jiti.import(resolve(path))) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const [reason, place = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    // The second line of a syntax error ends with line and column.
    const found = reason.startsWith('ParseError: ') ? /:(\d+):(\d+)$/.exec(place.trimEnd()) : null;
    const at = found === null ? '' : ` in line ${found[1]}, column ${found[2]}`;
    const message = `module ${path} cannot be loaded: ${reason.trimEnd()}${at}`;
    throw new InputError('ERR_SPEC_MODULE', message, 'modules', { cause: error });
  }
}

/** What specs can name with these modules, besides `base`: paths relative to `folder`. @throws InputError `ERR_SPEC_MODULE`. */
export async function loadModules(
  paths: readonly string[],
  folder: string,
  base: Extensions = noExtensions,
): Promise<Extensions> {
  let extensions = base;
  for (const path of paths) {
    const full = isAbsolute(path) ? path : resolve(folder, path);
    const text = textOf(full, path);
    extensions = extend(extensions, { path, sha256: sha256(text) }, await importModule(full));
  }
  return extensions;
}

function textOf(full: string, path: string): string {
  try {
    return readFileSync(full, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new InputError('ERR_SPEC_MODULE', `module ${path}: ${why}. Paths are relative to the spec.`, 'modules');
  }
}
