import { InputError, nearestName } from '@flashstack/sim';
import { linkNames, linkOf } from '@flashstack/ssd';
import { setElsewhere } from './drive-overrides.js';
import { nullableSections } from './options/drive-options.js';
import { type Option, type OptionTable, parseOption, shown } from './options/option.js';
import { SpecError, type SpecPath } from './spec-problem.js';

/** A map of a spec document. */
export type Tree = Readonly<Record<string, unknown>>;

/** Collects the leaves of a section as overrides by path. A null section is an override of its own. */
export function readDrive(
  path: SpecPath,
  value: unknown,
  table: OptionTable,
  overrides: Record<string, unknown>,
): void {
  const name = path.join('.');
  const option = table.get(name);
  if (option !== undefined) {
    overrides[name] = leaf(path, option, value);
    return;
  }
  const children = childrenOf(name, table);
  if (value === null && children.nullable) {
    overrides[name] = null;
    return;
  }
  // `scheduler: event` is short for its kind, `link: pcie3x4` for its standard and lanes.
  if (name === 'scheduler' && typeof value === 'string') {
    overrides['scheduler.kind'] = leaf(path, table.get('scheduler.kind') as Option, value);
    return;
  }
  if (name === 'link' && typeof value === 'string') {
    if (!linkNames.includes(value)) throw unknownLink(path, value);
    for (const [key, part] of Object.entries(linkOf(value))) overrides[`link.${key}`] = part;
    return;
  }
  if (!isMap(value)) throw badValue(path, value, `a map with ${children.names.join(', ')}`);
  for (const [key, inner] of Object.entries(value)) {
    if (!children.names.includes(key)) throw unknownKey([...path, key], children.names);
    readDrive([...path, key], inner, table, overrides);
  }
}

function unknownLink(path: SpecPath, value: string): SpecError {
  return new SpecError('ERR_UNKNOWN_NAME', `unknown link "${value}".`, {
    path,
    meant: nearestName(value, linkNames) ?? '',
    hints: [`Known: ${linkNames.join(', ')}; or a map with standard, lanes and so on.`],
  });
}

function childrenOf(name: string, table: OptionTable): { names: string[]; nullable: boolean } {
  const prefix = `${name}.`;
  const names = [...table.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split('.')[0]);
  return { names: [...new Set(names)], nullable: nullableSections.includes(name) };
}

/** A map without sections. */
export function readMap(path: SpecPath, value: Tree, table: OptionTable): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const option = table.get(key);
    if (option === undefined) throw unknownKey([...path, key], [...table.keys()]);
    read[key] = leaf([...path, key], option, inner);
  }
  return read;
}

/** The value at a path. @throws SpecError */
export function leaf(path: SpecPath, option: Option, value: unknown): unknown {
  try {
    return parseOption(path.join('.'), option, value);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new SpecError(error.code, error.message, { path, hints: sectionHint(path) });
  }
}

/** A key that is none, with what was probably meant. */
export function unknownKey(path: SpecPath, known: readonly string[]): SpecError {
  const key = String(path.at(-1));
  const name = path.join('.');
  if (Object.hasOwn(setElsewhere, name)) {
    const what = `${name} is not set by itself.`;
    return new SpecError('ERR_UNKNOWN_NAME', what, { path, target: 'key', hints: [setElsewhere[name]] });
  }
  const meant = nearestName(key, known);
  return new SpecError('ERR_UNKNOWN_NAME', `unknown key ${path.join('.')}.`, {
    path,
    target: 'key',
    meant: meant ?? '',
    hints: [...(meant === null ? [`Known: ${known.join(', ')}.`] : []), ...sectionHint(path)],
  });
}

/** A value of the wrong kind. */
export function badValue(path: SpecPath, found: unknown, expected: string): SpecError {
  return new SpecError('ERR_SPEC_VALUE', `${path.join('.')} is ${shown(found)}, expected ${expected}.`, {
    path,
    hints: sectionHint(path),
  });
}

function sectionHint(path: SpecPath): readonly string[] {
  return path.length > 1 ? [`See: flashstack schema ${path[0]}`] : [];
}

/** A map, as YAML and JSON have them. */
export function isMap(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
