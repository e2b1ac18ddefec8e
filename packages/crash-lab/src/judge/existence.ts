import type { FileObject } from './file-object.js';
import type { Found } from './found.js';
import type { Promises } from './promises.js';

/** R8: what was durable is still reachable unless it may have been removed. R6: what was renamed is somewhere. */
export function judgeExistence(found: Found): void {
  const { promises } = found;
  for (const object of promises.timeline.model.objects) {
    if (found.paths.has(object) || found.blamed.has(object)) continue;
    const from = promises.existsFrom(object);
    if (from < 0 || mayBeGone(promises, object, from) || holderIsGone(found, object, from)) continue;
    const renamed = object.names.positions.some((position) => position > from && promises.mayShow(position));
    if (renamed && !promises.rules.keepsRenamed && isOverwritten(promises, object)) continue;
    const path = object.pathAt(from);
    const text = `the ${object.kind} is under none of its names, nothing may have removed it: it was durable with ${promises.timeline.describe(from)}`;
    found.violated(renamed ? 'R6' : 'R8', path, text);
  }
}

/** R6: a rename has not left both names. */
export function judgeRenames(found: Found): void {
  for (const [node, object] of found.objects) {
    if ((found.links.get(node) ?? 0) < 2 || object.kind === 'directory') continue;
    const { positions, values } = object.names;
    for (let index = 1; index < values.length; index++) {
      const [before, after] = [values[index - 1], values[index]];
      const added = after.find((name) => !before.includes(name) && !before.some((old) => same(old, name)));
      const removed = before.find((old) => !after.some((name) => same(old, name)));
      if (added === undefined || removed === undefined) continue;
      const [path, other] = [pathOf(found, added), pathOf(found, removed)];
      if (path === null || other === null || found.tree.get(path) !== node || found.tree.get(other) !== node) continue;
      const together = values.some((names) => [added, removed].every((one) => names.some((name) => same(name, one))));
      if (together) continue;
      found.violated(
        'R6',
        path,
        `${found.promises.timeline.describe(positions[index])} has left both names, ${other} too`,
      );
    }
  }
}

type Place = { readonly directory: FileObject; readonly name: string };

function same(one: Place, other: Place): boolean {
  return one.directory === other.directory && one.name === other.name;
}

function pathOf(found: Found, { directory, name }: Place): string | null {
  const above = found.paths.get(directory);
  return above === undefined ? null : above === '' ? name : `${above}/${name}`;
}

/** An operation that had begun has taken its last name. */
function mayBeGone(promises: Promises, object: FileObject, from: number): boolean {
  const { positions, values } = object.names;
  return values.some(
    (names, index) =>
      names.length === 0 &&
      (positions[index + 1] ?? Number.POSITIVE_INFINITY) > from &&
      promises.mayShow(positions[index]),
  );
}

/** It is lost with a directory that has been reported already. */
function holderIsGone(found: Found, object: FileObject, from: number): boolean {
  return object.names.at(from).some(({ directory }) => !found.paths.has(directory));
}

/** F-P1: another file has been made durable under a name that this one had. */
function isOverwritten(promises: Promises, object: FileObject): boolean {
  return promises.points.some(({ object: other }) => {
    if (other === null || other === object) return false;
    const theirs = other.names.values.flat();
    return object.names.values.flat().some((name) => theirs.some((taken) => same(name, taken)));
  });
}
