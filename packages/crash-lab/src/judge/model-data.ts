import { FallocateMode } from '@flashstack/vfs';
import { fileNumber, fillContents } from '../workload/contents.js';
import { ALLOCATIONS } from '../workload/operations.js';
import { BLOCK_BYTES, type FileObject } from './file-object.js';

/** A write that is applied to the model. */
export interface ModelWrite {
  /** Path that the contents carry. */
  readonly path: string;
  readonly version: number;
  readonly offset: number;
  readonly length: number;
  /** Offset that contents are generated for: that of the write, 0 for one behind the end. */
  readonly from: number;
}

/** Writes to a file. `doubtful`: the write failed, so that any of its blocks may have changed or not. */
export function write(file: FileObject, position: number, what: ModelWrite, doubtful: boolean): void {
  const { offset, length } = what;
  if (length === 0) return;
  const bytes = new Uint8Array(length);
  fillContents(bytes, fileNumber(what.path), what.version, what.from);
  const end = offset + length;
  if (doubtful) file.size.doubtful.push({ position, value: Math.max(file.size.current, end) });
  else if (end > file.size.current) file.size.set(position, end);
  for (let block = Math.floor(offset / BLOCK_BYTES); block * BLOCK_BYTES < end; block++) {
    const start = block * BLOCK_BYTES;
    const [first, last] = [Math.max(offset, start), Math.min(end, start + BLOCK_BYTES)];
    const register = file.block(block);
    const value = register.current?.slice() ?? new Uint8Array(BLOCK_BYTES);
    value.set(bytes.subarray(first - offset, last - offset), first - start);
    if (doubtful) register.doubtful.push({ position, value });
    else register.set(position, value);
  }
}

/** Cuts or extends a file. */
export function truncate(file: FileObject, position: number, size: number): void {
  if (size < file.size.current) zero(file, position, size, file.blocks.length * BLOCK_BYTES);
  if (size !== file.size.current) file.size.set(position, size);
}

/** `fallocate` with a named mode. How far it has written back or set the size, one more for a size that was set. */
export function allocate(file: FileObject, position: number, name: string, offset: number, length: number): number {
  const mode = ALLOCATIONS[name];
  const size = file.size.current;
  const end = offset + length;
  file.preallocated = true;
  if ((mode & (FallocateMode.collapseRange | FallocateMode.insertRange)) !== 0) {
    shift(file, position, offset, mode === FallocateMode.insertRange ? length : -length);
    return file.size.current + 1;
  }
  if ((mode & (FallocateMode.punchHole | FallocateMode.zeroRange)) !== 0) zero(file, position, offset, end);
  if (end > size && (mode & FallocateMode.keepSize) === 0) file.size.set(position, end);
  // Where the size on the drive is still shorter, it may become that of the range.
  else if (end <= size) file.size.doubtful.push({ position, value: end });
  return end + 1;
}

function zero(file: FileObject, position: number, from: number, to: number): void {
  const last = Math.min(to, file.blocks.length * BLOCK_BYTES);
  for (let block = Math.floor(from / BLOCK_BYTES); block * BLOCK_BYTES < last; block++) {
    const register = file.block(block);
    if (register.current === null) continue;
    const start = block * BLOCK_BYTES;
    const [first, end] = [Math.max(from, start) - start, Math.min(last, start + BLOCK_BYTES) - start];
    const value = register.current.slice().fill(0, first, end);
    register.set(position, first === 0 && end === BLOCK_BYTES ? null : value);
  }
}

/** Moves what is behind `offset` by whole blocks. */
function shift(file: FileObject, position: number, offset: number, by: number): void {
  const size = file.size.current;
  const before = file.blocks.map((register) => register.current);
  const [first, moved] = [offset / BLOCK_BYTES, by / BLOCK_BYTES];
  const count = Math.max(before.length, before.length + moved);
  for (let block = first; block < count; block++) {
    const source = block - moved;
    const value = moved > 0 && source < first ? null : (before[source] ?? null);
    file.block(block).set(position, value);
  }
  file.size.set(position, size + by);
}
