/**
 * Every leaf of a spec, or of a part of it, by its path: what two specs are compared by. Lists are leaves, and so is a
 * strategy, whichever way it is written: `greedy`, or `d-choices d=4` for `{ name: d-choices, parameters: { d: 4 } }`.
 */
export function specLeaves(value: unknown, path = ''): Map<string, unknown> {
  if (!isMap(value)) return new Map([[path, value]]);
  if (isStrategy(value)) return new Map([[path, strategyText(value)]]);
  const all = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    for (const [at, leaf] of specLeaves(inner, path === '' ? key : `${path}.${key}`)) all.set(at, leaf);
  }
  return all;
}

type Tree = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStrategy(value: Tree): value is { readonly name: string; readonly parameters?: Tree } {
  const keys = Object.keys(value);
  return (
    typeof value.name === 'string' && keys.every((key) => key === 'name' || (key === 'parameters' && isMap(value[key])))
  );
}

function strategyText({ name, parameters = {} }: { readonly name: string; readonly parameters?: Tree }): string {
  return [name, ...Object.entries(parameters).map(([key, value]) => `${key}=${value}`)].join(' ');
}
