import { SimulationError } from './errors.js';

/**
 * A value as JSON: numbers, booleans and null as themselves, everything else as an object with one key that says what it
 * is. `ref` and `column` count objects and columns in the order in which they are met.
 */
type Node =
  | number
  | boolean
  | null
  | { readonly text: string }
  /** Infinity, −Infinity, NaN, −0 or undefined. */
  | { readonly odd: string }
  | { readonly ref: number }
  | { readonly column: readonly [type: string, at: number, bytes: number] }
  | { readonly sameColumn: number }
  | { readonly list: readonly Node[] }
  | { readonly set: readonly Node[] }
  | { readonly map: readonly (readonly [Node, Node])[] }
  /** An object, and whether it is one of a class. Classes are told by their fields: bundlers change their names. */
  | { readonly instance: boolean; readonly fields: Readonly<Record<string, Node>> }
  | { readonly left: 'out' };

type Column = ArrayBufferView & { readonly length: number; set(values: ArrayLike<number>): void };
type ColumnType = new (buffer: ArrayBuffer, at: number, length: number) => Column;

const columnTypes: Readonly<Record<string, ColumnType & { readonly BYTES_PER_ELEMENT: number }>> = {
  Int8Array,
  Uint8Array,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
};
const oddValues: Readonly<Record<string, unknown>> = {
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  NaN: Number.NaN,
  '-0': -0,
  undefined,
};
const ALIGNMENT = 8;
const LEFT_OUT: Node = { left: 'out' };

/**
 * Copies the state of everything that can be reached from `root` through own properties: scalars, typed arrays, arrays,
 * maps, sets, and the objects that hold them. Left out are functions and the objects in `outside`: what the graph refers
 * to but does not own, such as the simulator. State in closures and in `#` fields cannot be seen, so a part that is to
 * be saved keeps its state in properties.
 *
 * The bytes are a JSON description with its length in front, then the typed arrays, little-endian.
 * @throws SimulationError `ERR_SIM_STATE` for a value that cannot be copied.
 */
export function captureState(root: object, outside: readonly object[] = []): Uint8Array {
  const capture = new Capture(outside);
  const description = asciiJson(capture.node(root, 'root'));
  const head = aligned(4 + description.length);
  const image = new Uint8Array(head + capture.bytes);
  new DataView(image.buffer).setUint32(0, description.length, true);
  for (let i = 0; i < description.length; i++) image[4 + i] = description.charCodeAt(i);
  let at = head;
  for (const column of capture.columns) {
    image.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += aligned(column.byteLength);
  }
  return image;
}

/**
 * Brings a graph that was built in the same way into a captured state. Objects stay the same objects; typed arrays of
 * another length are replaced wherever they are referred to.
 * @throws SimulationError `ERR_SIM_STATE` if the graph has another structure than the captured one; it is of no use
 * then, for part of it has been changed.
 */
export function restoreState(root: object, image: Uint8Array, outside: readonly object[] = []): void {
  const length = new DataView(image.buffer, image.byteOffset, image.byteLength).getUint32(0, true);
  const description = asciiText(image.subarray(4, 4 + length));
  const restore = new Restore(image.subarray(aligned(4 + length)), outside);
  restore.value(root, JSON.parse(description) as Node, 'root');
}

class Capture {
  readonly columns: Column[] = [];
  bytes = 0;
  private readonly refs: Map<object, number> = new Map();
  private readonly outside: ReadonlySet<object>;

  constructor(outside: readonly object[]) {
    this.outside = new Set(outside);
  }

  node(value: unknown, path: string): Node {
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') return { text: value };
    if (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)) return value;
    if (typeof value === 'number' || value === undefined) return { odd: Object.is(value, -0) ? '-0' : String(value) };
    if (typeof value === 'function' || (typeof value === 'object' && this.outside.has(value))) return LEFT_OUT;
    if (typeof value !== 'object') throw cannot(path, `a ${typeof value} cannot be saved`);
    if (ArrayBuffer.isView(value)) return this.column(value as Column, path);
    const seen = this.refs.get(value);
    if (seen !== undefined) return { ref: seen };
    this.refs.set(value, this.refs.size);
    if (Array.isArray(value)) return { list: value.map((item, i) => this.node(item, `${path}[${i}]`)) };
    if (value instanceof Set) return { set: [...value].map((item) => this.node(item, `${path}{}`)) };
    if (value instanceof Map) {
      return { map: [...value].map(([key, item]) => [this.node(key, `${path}{}`), this.node(item, `${path}{}`)]) };
    }
    const fields = Object.entries(value).map(([key, item]) => [key, this.node(item, `${path}.${key}`)]);
    return { instance: isInstance(value), fields: Object.fromEntries(fields) };
  }

  private column(column: Column, path: string): Node {
    const seen = this.columns.indexOf(column);
    if (seen >= 0) return { sameColumn: seen };
    const type = column.constructor.name;
    if (!Object.hasOwn(columnTypes, type)) throw cannot(path, `a ${type} cannot be saved`);
    const at = this.bytes;
    this.columns.push(column);
    this.bytes += aligned(column.byteLength);
    return { column: [type, at, column.byteLength] };
  }
}

class Restore {
  private readonly bytes: Uint8Array;
  private readonly outside: ReadonlySet<object>;
  private readonly refs: object[] = [];
  private readonly columns: Column[] = [];

  constructor(bytes: Uint8Array, outside: readonly object[]) {
    this.bytes = bytes;
    this.outside = new Set(outside);
  }

  /** What belongs in the place of `current`. */
  value(current: unknown, node: Node, path: string): unknown {
    if (node === null || typeof node !== 'object') return node;
    if ('text' in node) return node.text;
    if ('odd' in node) return oddValues[node.odd];
    if ('ref' in node) return this.refs[node.ref];
    if ('sameColumn' in node) return this.columns[node.sameColumn];
    if ('column' in node) return this.column(current, node.column, path);
    if ('left' in node) {
      const kept =
        typeof current === 'function' || (typeof current === 'object' && this.outside.has(current as object));
      if (!kept) throw cannot(path, 'saved was something outside the graph');
      return current;
    }
    if ('list' in node) return this.list(current, node.list, path);
    if ('set' in node || 'map' in node) return this.collection(current, node, path);
    return this.object(current, node, path);
  }

  private column(current: unknown, [type, at, bytes]: readonly [string, number, number], path: string): Column {
    const make = columnTypes[type];
    if (make === undefined || at + bytes > this.bytes.length) throw cannot(path, 'the image is damaged');
    // A copy, also of a Buffer of Node, whose own `slice` makes none.
    const copy = Uint8Array.prototype.slice.call(this.bytes, at, at + bytes);
    const saved = new make(copy.buffer, 0, bytes / make.BYTES_PER_ELEMENT);
    const fits = current instanceof make && current.length === saved.length;
    if (fits) (current as Column).set(saved as unknown as ArrayLike<number>);
    const column = fits ? (current as Column) : saved;
    this.columns.push(column);
    return column;
  }

  private list(current: unknown, nodes: readonly Node[], path: string): unknown[] {
    const list: unknown[] = Array.isArray(current) ? current : [];
    this.refs.push(list);
    list.length = nodes.length;
    for (const [i, node] of nodes.entries()) list[i] = this.value(list[i], node, `${path}[${i}]`);
    return list;
  }

  private collection(current: unknown, node: Extract<Node, object>, path: string): unknown {
    // What a list or a collection holds is made anew.
    if ('set' in node) {
      const set: unknown = current ?? new Set();
      if (!(set instanceof Set)) throw cannot(path, 'saved was a Set');
      this.refs.push(set);
      set.clear();
      for (const item of node.set) set.add(this.value(undefined, item, `${path}{}`));
      return set;
    }
    const map: unknown = current ?? new Map();
    if (!('map' in node) || !(map instanceof Map)) throw cannot(path, 'saved was a Map');
    this.refs.push(map);
    map.clear();
    for (const [key, item] of node.map) {
      map.set(this.value(undefined, key, `${path}{}`), this.value(undefined, item, `${path}{}`));
    }
    return map;
  }

  private object(current: unknown, node: Extract<Node, { instance: boolean }>, path: string): object {
    const target = node.instance ? current : (current ?? {});
    const keys = Object.keys(node.fields);
    const fits =
      typeof target === 'object' &&
      target !== null &&
      isInstance(target) === node.instance &&
      (!node.instance || sameNames(keys, Object.keys(target)));
    if (!fits) throw cannot(path, `saved was ${shape(node.instance, keys)}, here is ${shapeOf(target)}`);
    this.refs.push(target);
    const fields = target as Record<string, unknown>;
    for (const [key, field] of Object.entries(node.fields)) {
      const value = this.value(fields[key], field, `${path}.${key}`);
      // Constants are shared and frozen, or read-only: they are the same already.
      if (!Object.is(value, fields[key])) fields[key] = value;
    }
    return target;
  }
}

function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype;
}

function sameNames(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name) => others.includes(name));
}

function shapeOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return shape(isInstance(value), Object.keys(value));
}

function shape(instance: boolean, names: readonly string[]): string {
  return `${instance ? 'an object of a class' : 'a plain object'} with ${names.join(', ') || 'no fields'}`;
}

/** JSON with every character beyond ASCII escaped: a byte each, without an encoder, which a bare engine does not have. */
function asciiJson(node: Node): string {
  return JSON.stringify(node).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function asciiText(bytes: Uint8Array): string {
  const parts: string[] = [];
  // As many arguments as every engine takes in one call.
  for (let at = 0; at < bytes.length; at += 4096) parts.push(String.fromCharCode(...bytes.subarray(at, at + 4096)));
  return parts.join('');
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

function cannot(path: string, why: string): SimulationError {
  return new SimulationError('ERR_SIM_STATE', `state of ${path}: ${why}`);
}
