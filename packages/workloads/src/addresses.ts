import { compactRanges, type RangeTable } from './footprint.js';
import { Operation, type OperationSource } from './operation.js';
import { ReplayError, ReplayErrorCode, sizeText } from './replay-error.js';

/**
 * What to do with a workload whose addresses do not fit the device.
 * - `fail`: a request beyond the end is an error.
 * - `wrap`: addresses modulo the capacity; a request across the end goes on at the start.
 * - `compact`: the ranges that the workload touches (in units of 4 KiB) are moved together, in order of address.
 * - `scale`: the address space, in pieces of 1 MiB, is squeezed or stretched onto the device. Pieces that meet in one
 *   place overlay each other; inside a piece nothing changes.
 */
export type AddressPolicy = 'fail' | 'wrap' | 'compact' | 'scale';

/** All address policies, by name. */
export const addressPolicies: readonly AddressPolicy[] = ['wrap', 'compact', 'scale', 'fail'];

const GRANULE_BYTES = 4096;
const PIECE_BYTES = 1024 * 1024;
const FAIL = 0;
const WRAP = 1;
const COMPACT = 2;
const SCALE = 3;

/** The device side of the mapping. */
export interface AddressSpace {
  readonly blockBytes: number;
  readonly blockCount: number;
}

/**
 * Places byte ranges of a workload on the blocks of a device. Ranges that do not start or end at a block are widened
 * to whole blocks, and counted.
 */
export class AddressMap {
  /** Result of the last `place`: first block, number of blocks there, and blocks that go on at block 0 (wrap only). */
  block = 0;
  count = 0;
  tail = 0;
  /** Requests widened to whole blocks so far. */
  widened = 0;
  private readonly kind: number;
  private readonly blockBytes: number;
  private readonly blockCount: number;
  private readonly ranges: RangeTable | null;
  private readonly pieceBlocks: number;
  private readonly scale: number;

  /**
   * Reads the source once from its start and restarts it if the policy must know it whole.
   * @throws ReplayError if a request or the space touched cannot be placed.
   */
  constructor(policy: AddressPolicy, source: OperationSource, device: AddressSpace) {
    this.kind = ['fail', 'wrap', 'compact', 'scale'].indexOf(policy);
    if (this.kind < 0) {
      throw new ReplayError(
        ReplayErrorCode.option,
        `unknown address policy "${policy}"; known: ${addressPolicies.join(', ')}`,
        'address',
      );
    }
    this.blockBytes = device.blockBytes;
    this.blockCount = device.blockCount;
    const capacity = device.blockBytes * device.blockCount;
    const granule = Math.max(GRANULE_BYTES, device.blockBytes);
    this.ranges = this.kind === COMPACT ? compactRanges(source, granule) : null;
    if (this.ranges !== null && this.ranges.totalBytes > capacity) {
      throw new ReplayError(
        ReplayErrorCode.tooLarge,
        `the workload touches ${sizeText(this.ranges.totalBytes)}; the device has ${sizeText(capacity)}. Choose a larger device or map addresses by wrap or scale`,
        'address',
      );
    }
    const piece = Math.max(PIECE_BYTES, device.blockBytes);
    this.pieceBlocks = Math.floor(piece / device.blockBytes);
    this.scale = this.kind === SCALE ? this.scaleFor(endByteOf(source)) : 1;
    if (this.kind === FAIL && endByteOf(source) > capacity) this.failAhead(source);
  }

  /** Places `operation`, the `number`-th of the workload (from 1, for errors). */
  place(operation: Operation, number: number): void {
    const size = this.blockBytes;
    const offset = this.ranges === null ? operation.offsetBytes : this.ranges.map(operation.offsetBytes);
    const end = offset + operation.lengthBytes;
    let block = Math.floor(offset / size);
    const endBlock = Math.ceil(end / size);
    const count = endBlock - block;
    if (block * size !== offset || endBlock * size !== end) this.widened++;
    this.tail = 0;
    if (this.kind === SCALE) block = this.scaled(block, count);
    else if (this.kind === WRAP) block %= this.blockCount;
    if (block + count > this.blockCount) {
      if (count > this.blockCount || this.kind !== WRAP) this.refuse(operation, number);
      this.tail = block + count - this.blockCount;
    }
    this.block = block;
    this.count = count - this.tail;
  }

  private scaled(block: number, count: number): number {
    const piece = Math.floor(block / this.pieceBlocks);
    const moved = Math.floor(piece * this.scale) * this.pieceBlocks + (block - piece * this.pieceBlocks);
    // Only the last piece can reach over the end; it ends at the end instead.
    return count > this.blockCount ? moved : Math.min(moved, this.blockCount - count);
  }

  private scaleFor(endByte: number): number {
    const from = Math.ceil(endByte / (this.pieceBlocks * this.blockBytes));
    const to = Math.max(1, Math.floor(this.blockCount / this.pieceBlocks));
    return from === 0 ? 1 : to / from;
  }

  private failAhead(source: OperationSource): void {
    const operation = new Operation();
    source.restart();
    for (let number = 1; source.next(operation); number++) this.place(operation, number);
    source.restart();
    this.widened = 0;
  }

  private refuse(operation: Operation, number: number): never {
    const capacity = sizeText(this.blockBytes * this.blockCount);
    if (operation.lengthBytes > this.blockBytes * this.blockCount) {
      throw new ReplayError(
        ReplayErrorCode.tooLarge,
        `request ${number} is ${sizeText(operation.lengthBytes)} long; the device has ${capacity}`,
        'address',
      );
    }
    const end = sizeText(operation.offsetBytes + operation.lengthBytes);
    throw new ReplayError(
      ReplayErrorCode.beyondDevice,
      `request ${number} ends at ${end}; the device has ${capacity}. Choose how to map addresses: wrap, compact or scale`,
      'address',
    );
  }
}

function endByteOf(source: OperationSource): number {
  if (source.endByte !== undefined) return source.endByte;
  const operation = new Operation();
  let end = 0;
  source.restart();
  while (source.next(operation)) end = Math.max(end, operation.offsetBytes + operation.lengthBytes);
  source.restart();
  return end;
}
