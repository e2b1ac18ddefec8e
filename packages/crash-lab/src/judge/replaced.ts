import { sameBytes } from './contents.js';
import { BLOCK_BYTES } from './file-object.js';
import type { Found } from './found.js';

/** E4: where a name leads to a file that was renamed over another, the file has the bytes that it had then. */
export function judgeReplaced(found: Found): void {
  const { promises, tree } = found;
  for (const [node, object] of found.objects) {
    // Blocks that were allocated before they were written are not waited for.
    if (object.kind !== 'file' || object.preallocated) continue;
    const path = found.paths.get(object) ?? '';
    const position = replacedAt(found, path, tree.get(path) === node);
    if (position <= 0 || !promises.mayShow(position)) continue;
    for (const [block, register] of object.blocks.entries()) {
      const index = register.indexAt(position);
      const from = block * BLOCK_BYTES;
      // What overwrites older bytes in place has no new blocks.
      if (index <= 0 || register.values[index] === null || register.values[index - 1] !== null) continue;
      const to = Math.min(from + BLOCK_BYTES, object.size.at(position));
      const cut = object.size.values.some((size, at) => size < to && object.size.positions[at] > position);
      if (cut || to <= from) continue;
      const kept = register.values.some(
        (value, at) => at >= index && node.size >= to && sameBytes(node.contents, from, to, value),
      );
      if (!kept) {
        const text = `${promises.timeline.describe(position)} is there, bytes ${from} and on of the file are not`;
        found.violated('E4', path, text);
      }
    }
  }
}

/** Position of the rename with which a path began to lead to what it leads to, over a file; −1: none. */
function replacedAt(found: Found, path: string, leads: boolean): number {
  const slash = path.lastIndexOf('/');
  const directory = found.objects.get(found.tree.get(slash < 0 ? '' : path.slice(0, slash)) as never);
  const register = directory?.entries.get(path.slice(slash + 1));
  if (!leads || register === undefined) return -1;
  const object = found.objects.get(found.tree.get(path) as never);
  for (let index = register.values.length - 1; index > 0; index--) {
    if (register.values[index] !== object || register.values[index - 1] === null) continue;
    const position = register.positions[index];
    return found.promises.timeline.stepAt(position)[0] === 'rename' ? position : -1;
  }
  return -1;
}
