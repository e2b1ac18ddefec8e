/** A copy of twice the length that begins with the same contents. */
export function grown<T extends Int32Array | Float64Array | Uint8Array>(column: T): T {
  const larger = new (column.constructor as new (length: number) => T)(column.length * 2);
  larger.set(column);
  return larger;
}
