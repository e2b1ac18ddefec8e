type Column = Uint8Array | Int32Array | Float64Array;

/** `to`, begun with the contents of `from`: how columns grow. */
export function grown<T extends Column>(from: T, to: T): T {
  to.set(from);
  return to;
}
