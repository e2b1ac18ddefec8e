import { expandTag } from '@flashstack/block-device';
import { mix32 } from '@flashstack/sim';

/** Copies part of a page that holds bytes, or that a tag (with or without sign) stands for, from its byte `at` on. */
export function copyFromPage(
  bytes: Uint8Array | null,
  tag: number,
  at: number,
  length: number,
  into: Uint8Array,
  intoOffset: number,
): void {
  if (bytes !== null) {
    if (length === bytes.length) into.set(bytes, intoOffset);
    else into.set(bytes.subarray(at, at + length), intoOffset);
    return;
  }
  if (length < 4) {
    for (let i = 0; i < length; i++) into[intoOffset + i] = tag >>> (((at + i) & 3) * 8);
    return;
  }
  const turn = (at & 3) * 8;
  const word = turn === 0 ? tag | 0 : (tag >>> turn) | (tag << (32 - turn));
  expandTag(word, into, intoOffset, length);
}

/** Tag of a page that is written without bytes: never 0, which stands for a hole. */
export function tagOfPage(seed: number, page: number): number {
  const tag = mix32(seed ^ Math.imul(page + 1, 0x9e37_79b9));
  return tag === 0 ? 1 : tag;
}

/** Tag of a page of which a part is overwritten without bytes. */
export function tagOfPart(old: number, fresh: number, at: number, length: number): number {
  const tag = mix32(mix32(fresh ^ Math.imul(at, 0x85eb_ca6b)) ^ mix32(old + Math.imul(length, 0xc2b2_ae35)));
  return tag === 0 ? 1 : tag;
}
