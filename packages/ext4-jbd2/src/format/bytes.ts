/** Little-endian fields of on-disk structures: unsigned, and 48 bits or more joined by multiplication. */

export function u16(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8);
}

export function u32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** Signed, for seconds since 1970. */
export function i32(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

export function put16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
}

export function put32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** Big-endian, as all of the journal is. */
export function be32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}

export function putBe32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Two halves of a larger number. */
export function join32(low: number, high: number): number {
  return high * 2 ** 32 + low;
}

/** Upper half of a number above 2^32. */
export function high32(value: number): number {
  return Math.floor(value / 2 ** 32);
}

/** Bytes as a byte string: one UTF-16 unit each. */
export function byteString(bytes: Uint8Array, from: number, length: number): string {
  let text = '';
  for (let at = from; at < from + length; at++) text += String.fromCharCode(bytes[at]);
  return text;
}

/** Writes a byte string. */
export function putByteString(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}

/** True if a range holds nothing but zeroes. */
export function isZero(bytes: Uint8Array, from: number = 0, end: number = bytes.length): boolean {
  for (let at = from; at < end; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** Bit `index` of a bitmap, least significant bit first. */
export function bitAt(bitmap: Uint8Array, index: number): boolean {
  return (bitmap[index >>> 3] & (1 << (index & 7))) !== 0;
}

export function setBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >>> 3] |= 1 << (index & 7);
}

export function clearBit(bitmap: Uint8Array, index: number): void {
  bitmap[index >>> 3] &= ~(1 << (index & 7));
}
