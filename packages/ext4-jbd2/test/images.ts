import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { type BlockDevice, BlockOp, IoBatch, MemoryDevice } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { Ino, readContents, readEntries, readTarget, type StoredInode, type Volume } from '../src/index.js';

/** Images that need no recovery. */
export const CLEAN = ['min-empty', 'min-tree', 'def-groups', 'b1k-tree', 'gdt32-crc16', 'new-feat', 'k-b1k-htree'];
/** Images with a log that waits. */
export const LOGS = ['jrnl-v1', 'jrnl-v2', 'jrnl-v3', 'k-crash', 'k-fsync', 'k-wrap'];

export const UUID: Uint8Array = Uint8Array.from(Buffer.from('6f3a1c520b7d4e8a9c112a5d7e9f0c34', 'hex'));
export const HASH_SEED: Uint8Array = Uint8Array.from(Buffer.from('1b0c44d952aa4a638e70d3f1a2b4c5e6', 'hex'));
export const TIME = 1_700_000_000;

/** Blocks in which images are stored, and those of the devices that hold them. */
const STORED = 4096;
const UNIT = 1024;
const EMPTY = new Uint8Array(STORED);

const unpacked = new Map<string, Buffer>();

function packedImage(name: string): Buffer {
  const known = unpacked.get(name);
  if (known !== undefined) return known;
  const bytes = brotliDecompressSync(readFileSync(fixtureUrl(`ext4/${name}.blocks.br`)));
  unpacked.set(name, bytes);
  return bytes;
}

/** A new device with a golden image. */
export function imageOf(name: string): MemoryDevice {
  const packed = packedImage(name);
  const count = packed.readUInt32LE(4);
  const device = new MemoryDevice({ blockBytes: UNIT, blockCount: packed.readUInt32LE(0) * (STORED / UNIT) });
  const batch = new IoBatch(device);
  const data = 8 + 4 * count;
  for (let at = 0; at < count; at++) {
    const request = batch.add(BlockOp.write, packed.readUInt32LE(8 + 4 * at) * (STORED / UNIT), STORED / UNIT);
    request.data = packed.subarray(data + at * STORED, data + (at + 1) * STORED);
  }
  perform(batch);
  return device;
}

/** Numbers of the blocks of 4 KiB that an image holds. */
export function blocksOf(name: string): number[] {
  const packed = packedImage(name);
  return Array.from({ length: packed.readUInt32LE(4) }, (_, at) => packed.readUInt32LE(8 + 4 * at));
}

function perform(batch: IoBatch): void {
  runTask(
    new Simulator(),
    (function* () {
      yield batch;
    })(),
  );
  if (batch.status !== 0) throw new Error(`status ${batch.status}`);
}

/** Bytes of a device, whole blocks of it. */
export function bytesAt(device: BlockDevice, from: number, length: number): Uint8Array {
  const batch = new IoBatch(device);
  const data = new Uint8Array(length);
  batch.add(BlockOp.read, from / device.blockBytes, length / device.blockBytes).data = data;
  perform(batch);
  return data;
}

/** Changes bytes of a device. */
export function patch(
  device: BlockDevice,
  at: number,
  change: (bytes: Uint8Array) => void,
  length: number = 1024,
): void {
  const from = at - (at % device.blockBytes);
  const whole = Math.ceil((at + length - from) / device.blockBytes) * device.blockBytes;
  const data = bytesAt(device, from, whole);
  change(data.subarray(at - from, at - from + length));
  const batch = new IoBatch(device);
  batch.add(BlockOp.write, from / device.blockBytes, whole / device.blockBytes).data = data;
  perform(batch);
}

/** Writes a device into a file with holes. */
export function save(device: BlockDevice, path: string): void {
  const file = openSync(path, 'w');
  const piece = 1 << 20;
  const total = device.blockCount * device.blockBytes;
  ftruncateSync(file, total);
  for (let at = 0; at < total; at += piece) {
    const bytes = bytesAt(device, at, Math.min(piece, total - at));
    for (let from = 0; from < bytes.length; from += STORED) {
      const block = bytes.subarray(from, from + STORED);
      if (Buffer.compare(block, EMPTY) !== 0) writeSync(file, block, 0, block.length, at + from);
    }
  }
  closeSync(file);
}

/** An object below the root as debugfs lists it. */
export interface Listed {
  path: string;
  ino: number;
  mode: string;
  size?: number;
  sha256?: string;
  target?: string;
}

/** What a golden image holds, before or after its log has been replayed. */
export function listed(name: string, which: 'tree' | 'treeAfterReplay'): Listed[] {
  trees ??= JSON.parse(brotliDecompressSync(readFileSync(fixtureUrl('ext4/trees.json.br'))).toString('utf8'));
  const found = trees?.[name]?.[which];
  if (found === undefined) throw new Error(`no ${which} of ${name}`);
  return found.sort(byPath);
}

let trees: Record<string, Record<string, Listed[]>> | undefined;

function byPath(a: Listed, b: Listed): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}

/** SHA-256 of a file with its holes. */
function* digest(volume: Volume, inode: StoredInode): Task<string> {
  const hash = createHash('sha256');
  let at = 0;
  const fill = (end: number): void => {
    for (; at < end; at += Math.min(1 << 20, end - at)) hash.update(new Uint8Array(Math.min(1 << 20, end - at)));
  };
  yield* readContents(volume, inode, (part, offset) => {
    fill(offset);
    hash.update(part);
    at += part.length;
  });
  fill(inode.record.size);
  return hash.digest('hex');
}

/** All objects below the root, with their contents' hashes. */
export function* list(volume: Volume, contents: boolean = true): Task<Listed[]> {
  const lines: Listed[] = [];
  const seen = new Set<number>();
  function* walk(ino: number, path: string): Task<void> {
    // A damaged tree may lead back into itself.
    if (seen.has(ino)) return;
    seen.add(ino);
    for (const entry of yield* readEntries(volume, yield* volume.inode(ino))) {
      if (entry.name === '.' || entry.name === '..') continue;
      const inode = yield* volume.inode(entry.ino);
      const here = `${path}/${Buffer.from(entry.name, 'latin1').toString('utf8')}`;
      const line: Listed = { path: here, ino: entry.ino, mode: inode.record.mode.toString(8).padStart(6, '0') };
      const kind = inode.record.mode >>> 12;
      if (kind === FileKind.regular) {
        line.size = inode.record.size;
        if (contents && line.size > 0) line.sha256 = yield* digest(volume, inode);
      }
      if (kind === FileKind.symlink) {
        line.target = yield* readTarget(volume, inode);
        line.size = inode.record.size;
      }
      lines.push(line);
      if (kind === FileKind.directory) yield* walk(entry.ino, here);
    }
  }
  yield* walk(Ino.root, '');
  return lines.sort(byPath);
}
