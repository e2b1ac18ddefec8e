import type { Tree, TreeNode, Violation } from '../../src/index.js';

// The rules that the recorded workload was made for, independent of the judge: every block says which file, block and
// operation it is of, so whatever was acknowledged can be looked for.

const BLOCK_BYTES = 4096;

/** What a mark `B n {…}` says about an operation. */
export interface MarkedOperation {
  readonly number: number;
  readonly op: 'create' | 'append' | 'over' | 'rename' | 'unlink' | 'mkdir' | 'lazy';
  readonly file: string;
  /** The name under which the file was made. */
  readonly birth: string;
  readonly to: string;
  readonly dir: string;
  /** First block, number of blocks, and what they say they are. */
  readonly from: number;
  readonly blocks: number;
  readonly ver: number;
  readonly sync: 'fsync' | 'fdatasync';
  readonly acknowledged: boolean;
}

/** The operations that had begun when these marks had been made. */
export function operationsOf(marks: readonly string[]): MarkedOperation[] {
  const acknowledged = new Set(marks.filter((mark) => mark.startsWith('A ')).map((mark) => Number(mark.slice(2))));
  return marks.flatMap((mark) => {
    const [, digits, text] = /^B (\d+) (.*)$/.exec(mark) ?? [];
    if (digits === undefined) return [];
    const number = Number(digits);
    return [{ from: 0, birth: '', ...JSON.parse(text), number, acknowledged: acknowledged.has(number) }];
  });
}

/** What a block of a recorded file says that it is; null: nothing that makes sense, or not the same all over. */
function labelOf(block: Uint8Array): { birth: string; block: number; ver: number } | null {
  const text = Buffer.from(block).toString('latin1');
  const [line, birth, number, ver] = /^file=(\S+) block=(\d+) ver=(\d+)\n/.exec(text) ?? [];
  if (line === undefined || text !== line.repeat(BLOCK_BYTES / line.length + 1).slice(0, BLOCK_BYTES)) return null;
  return { birth, block: Number(number), ver: Number(ver) };
}

interface Required {
  readonly birth: string;
  /** Operation that each block is of. */
  readonly vers: number[];
}

/** The state that is durable, and the operation that may have happened on top of it. */
interface State {
  readonly files: Map<string, Required>;
  readonly gone: Map<string, string>;
  readonly directories: Set<string>;
  readonly open: MarkedOperation | null;
}

function stateOf(operations: readonly MarkedOperation[]): State {
  const files = new Map<string, Required>();
  const gone = new Map<string, string>();
  const directories = new Set<string>();
  let open: MarkedOperation | null = null;
  for (const operation of operations) {
    const { op, file, birth, to, dir, from, blocks, ver, acknowledged } = operation;
    if (op === 'lazy') continue;
    if (!acknowledged) {
      open = operation;
      continue;
    }
    const vers = files.get(file)?.vers ?? [];
    if (op === 'create') files.set(file, { birth: file, vers: Array(blocks).fill(ver) });
    else if (op === 'append') files.set(file, { birth, vers: [...vers, ...Array(blocks).fill(ver)] });
    else if (op === 'over') vers[from] = ver;
    else if (op === 'mkdir') directories.add(dir);
    else {
      const moved = files.get(file) as Required;
      files.delete(file);
      gone.set(file, op);
      if (op === 'rename') files.set(to, moved);
    }
  }
  return { files, gone, directories, open };
}

/**
 * What a recovered tree lacks of the acknowledged operations, or has of removed names. `ordersData` false: a block that was
 * being overwritten, out of place, may be anything.
 */
export function acknowledgedMissing(
  operations: readonly MarkedOperation[],
  tree: Tree,
  ordersData: boolean,
): Violation[] {
  const { files, gone, directories, open } = stateOf(operations);
  const anything = !ordersData && open?.op === 'over' ? open.from : -1;
  const violations: Violation[] = [];
  const add = (rule: string, path: string, text: string): void => void violations.push({ rule, path, text });
  for (const [path, required] of files) {
    const moving = open !== null && open.file === path;
    const node = tree.get(path) ?? (moving && open.op === 'rename' ? tree.get(open.to) : undefined);
    if (node !== undefined) judgeContents(path, required, node, moving ? open : null, moving ? anything : -1, add);
    else if (!(moving && open.op === 'unlink')) add('R4', path, 'an acknowledged file is missing');
  }
  for (const [path, op] of gone) {
    const again =
      files.has(path) || (open !== null && (open.to === path || (open.op === 'create' && open.file === path)));
    if (tree.has(path) && !again) add(op === 'rename' ? 'R6' : 'R9', path, `still there after an acknowledged ${op}`);
  }
  for (const path of directories) {
    if (tree.get(path)?.kind !== 'directory') add('R5', path, 'an acknowledged directory is missing');
  }
  return violations;
}

function judgeContents(
  path: string,
  { birth, vers }: Required,
  { contents }: TreeNode,
  open: MarkedOperation | null,
  anything: number,
  add: (rule: string, path: string, text: string) => void,
): void {
  const whole = Math.floor(contents.length / BLOCK_BYTES);
  if (whole < vers.length) add('R2', path, `${contents.length} bytes, ${vers.length * BLOCK_BYTES} acknowledged`);
  for (const [block, ver] of vers.slice(0, whole).entries()) {
    const bytes = contents.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    const label = labelOf(bytes);
    if (block === anything) continue;
    if (label === null || label.birth !== birth || label.block !== block) {
      add('R7', path, `block ${block} is ${JSON.stringify(Buffer.from(bytes.subarray(0, 40)).toString('latin1'))}`);
    } else if (label.ver !== ver && label.ver !== open?.ver) {
      add('R13', path, `block ${block} has version ${label.ver}, ${ver} was acknowledged`);
    }
  }
}
