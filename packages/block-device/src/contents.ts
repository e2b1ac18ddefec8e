/**
 * Fills a block with a tag's contents: the tag as little-endian words. Works on bytes, so it does not depend on the
 * machine's byte order.
 */
export function expandTag(tag: number, target: Uint8Array, offset: number, bytes: number): void {
  const end = offset + bytes;
  const low = tag & 0xff;
  if ((tag | 0) === Math.imul(low, 0x0101_0101)) {
    target.fill(low, offset, end);
    return;
  }
  target[offset] = low;
  target[offset + 1] = (tag >>> 8) & 0xff;
  target[offset + 2] = (tag >>> 16) & 0xff;
  target[offset + 3] = tag >>> 24;
  for (let done = 4; done < bytes; done *= 2) {
    target.copyWithin(offset + done, offset, offset + Math.min(done, bytes - done));
  }
}

/** The tag that stands for these bytes, or −1 if they are not one word over and over. */
export function tagOfBytes(source: Uint8Array, offset: number, bytes: number): number {
  const b0 = source[offset];
  const b1 = source[offset + 1];
  const b2 = source[offset + 2];
  const b3 = source[offset + 3];
  for (let at = offset + 4; at < offset + bytes; at += 4) {
    if (source[at] !== b0 || source[at + 1] !== b1 || source[at + 2] !== b2 || source[at + 3] !== b3) return -1;
  }
  return (b0 | (b1 << 8) | (b2 << 16) | (b3 << 24)) >>> 0;
}
