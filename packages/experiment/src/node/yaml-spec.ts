import { isMap, isPair, isScalar, LineCounter, type Node, type Pair, parseDocument, type YAMLError } from 'yaml';
import { SpecError, type SpecPath, type SpecPosition } from '../spec-problem.js';

/** A spec as text: its data, and where in the text each key stands. */
export interface SpecText {
  readonly data: unknown;
  /** The error with the place of its key or value in the file. */
  locate(error: SpecError): SpecError;
}

/** Reads YAML (or JSON, which is YAML). @throws SpecError for text that is neither, or has a key twice, with its place. */
export function readYaml(text: string, file: string): SpecText {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    logLevel: 'error',
  });
  const place = (from: number, to: number): SpecPosition => position(text, file, lines, from, to);
  const [broken] = document.errors;
  if (broken !== undefined) throw syntaxError(broken, place(broken.pos[0], broken.pos[1]), text);
  if (document.contents === null) {
    throw new SpecError('ERR_SPEC_EMPTY', `${file}: the spec is empty.`, {
      path: [],
      hints: ['The smallest one has two lines: "device: NAME" and "workload: random".'],
    });
  }
  return {
    data: dataOf(document, file),
    locate: (error) => {
      const found = nodeAt(document.contents, error.path, error.target);
      return found?.range ? error.at(place(found.range[0], found.range[1])) : error.in(file);
    },
  };
}

function dataOf(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // What only shows when aliases are followed: there is none of that name, or they multiply beyond measure.
    if (!(error instanceof ReferenceError)) throw error;
    throw new SpecError('ERR_SPEC_SYNTAX', `${file}: its aliases cannot be followed: ${lowerFirst(error.message)}.`, {
      path: [],
    });
  }
}

function syntaxError(error: YAMLError, at: SpecPosition, text: string): SpecError {
  const twice = error.code === 'DUPLICATE_KEY';
  const key = /^\S*?(?=\s*:)/.exec(text.slice(error.pos[0]).split('\n')[0])?.[0] ?? '';
  const what = twice ? `key ${key} stands twice in the same map.` : `this is no YAML: ${lowerFirst(error.message)}.`;
  const hints = twice ? ['Keep one of them.'] : [];
  const place = twice ? { ...at, to: at.from + Math.max(key.length, 1) - 1 } : at;
  return new SpecError(twice ? 'ERR_SPEC_DUPLICATE' : 'ERR_SPEC_SYNTAX', what, { path: [], hints }).at(place);
}

function lowerFirst(text: string): string {
  return (text.charAt(0).toLowerCase() + text.slice(1)).replace(/\.$/, '');
}

/** The node of a path, or of the nearest key above it that stands in the text. */
function nodeAt(root: Node | null, path: SpecPath, target: 'key' | 'value'): Node | null {
  let node: Node | null = root;
  let nearest: Node | null = root !== null && path.length > 0 ? root : firstKey(root);
  for (const [depth, step] of path.entries()) {
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined || !isPair(pair)) return nearest;
      const last = depth === path.length - 1;
      nearest = last && target === 'key' ? (pair.key as Node) : ((pair.value as Node | null) ?? (pair.key as Node));
      node = pair.value as Node | null;
    } else {
      const items: readonly unknown[] = (node as { items?: readonly unknown[] } | null)?.items ?? [];
      const item = items[Number(step)] as Node | undefined;
      if (item === undefined) return nearest;
      nearest = item;
      node = item;
    }
  }
  return nearest;
}

function firstKey(root: Node | null): Node | null {
  const [pair] = isMap(root) ? root.items : [];
  return (pair?.key as Node | undefined) ?? root;
}

function position(text: string, file: string, lines: LineCounter, from: number, to: number): SpecPosition {
  const { line, col } = lines.linePos(Math.min(from, text.length));
  const start = from - (col - 1);
  const lineText = text.slice(start).split(/\r?\n/, 1)[0];
  const before = line > 1 ? text.slice(0, start).split(/\r?\n/).at(-2) : undefined;
  // A value may go on over several lines: the caret stays on its first.
  const last = Math.max(col, Math.min(lineText.trimEnd().length, col + (to - from) - 1));
  return { file, line, column: col, text: lineText, before: before ?? null, from: col, to: last };
}
