import { sameBytes } from './contents.js';
import { BLOCK_BYTES } from './file-object.js';
import type { Found, Observation } from './found.js';

/**
 * E1: names, attributes and links are all those after one prefix of the operations, E6 also contents. Says which two things
 * do not belong to one prefix if there is none.
 */
export function judgePrefix(found: Found): void {
  const { begun, rules, timeline } = found.promises;
  const possible = new Uint8Array(begun + 1).fill(1);
  let before: Observation | null = null;
  const observations = rules.prefix === 'names' ? found.observations : [...found.observations, ...ofContents(found)];
  for (const observation of observations) {
    let left = 0;
    let changed = false;
    const allowed = possible.slice();
    for (let position = 0; position <= begun; position++) {
      if (allowed[position] === 0) continue;
      if (isAfter(observation, position)) left++;
      else {
        allowed[position] = 0;
        changed = true;
      }
    }
    if (left === 0) {
      const range = (of: Observation): string => prefixesOf(of, begun);
      const other = before === null ? '' : `, ${before.what} of ${before.path || 'the root'} ${range(before)}`;
      const text = `no prefix of the operations explains the tree: its ${observation.what} is that ${range(observation)}${other}; ${begun} had begun, the last was ${timeline.describe(begun)}`;
      found.violated('E1', observation.path, text);
      return;
    }
    if (!changed) continue;
    possible.set(allowed);
    before = observation;
  }
}

/** True if what was observed is how it stands after this prefix, and the prefix holds all that was durable. */
function isAfter({ register, durable, shows }: Observation, position: number): boolean {
  const index = Math.max(0, register.indexAt(position));
  return index >= durable.index && shows(register.values[index]);
}

function prefixesOf(observation: Observation, begun: number): string {
  const positions: number[] = [];
  for (let position = 0; position <= begun; position++) if (isAfter(observation, position)) positions.push(position);
  return positions.length === 0 ? 'after no prefix' : `after ${positions.join(', ')} operations`;
}

/** Contents and sizes as observations. What the next operation writes may be there in part. */
function ofContents(found: Found): Observation[] {
  const observations: Observation[] = [];
  for (const [node, object] of found.objects) {
    if (node.kind !== 'file' || object.kind !== 'file') continue;
    const path = found.paths.get(object) ?? '';
    for (const [block, register] of object.blocks.entries()) {
      const from = block * BLOCK_BYTES;
      const to = Math.min(from + BLOCK_BYTES, node.size);
      if (to <= from) continue;
      const durable = found.promises.ofBlock(object, register, from, BLOCK_BYTES);
      const after = (value: unknown): boolean => sameBytes(node.contents, from, to, value as Uint8Array | null);
      const shows = (value: unknown): boolean => {
        const next = register.values[register.values.indexOf(value as Uint8Array | null) + 1];
        return after(value) || (next !== undefined && after(next));
      };
      observations.push({ path, what: `block ${block}`, register, durable, shows });
    }
  }
  return observations;
}
