/** The column with room for `length` entries; the new ones are 0. */
export function bytes(column: Uint8Array, length: number): Uint8Array {
  const wide = new Uint8Array(length);
  wide.set(column);
  return wide;
}

/** As `bytes`, for 32-bit integers. */
export function ints(column: Int32Array, length: number): Int32Array {
  const wide = new Int32Array(length);
  wide.set(column);
  return wide;
}

/** As `bytes`, for doubles. */
export function doubles(column: Float64Array, length: number): Float64Array {
  const wide = new Float64Array(length);
  wide.set(column);
  return wide;
}
