import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FallocateMode, FileKind, type Inode, PAGE_BYTES, WritebackReason } from '../src/index.js';
import { errorCode, full, long, type Mounted, mountMemFs, readFile, writeFile } from './support.js';

const LIMIT = 12 * PAGE_BYTES;

type Step =
  | { readonly op: 'write'; readonly offset: number; readonly length: number; readonly seed: number }
  | { readonly op: 'truncate'; readonly offset: number }
  | { readonly op: 'fallocate'; readonly mode: number; readonly offset: number; readonly length: number }
  | { readonly op: 'writeBack' | 'reclaim' };

// Edges of pages matter most.
const place = fc.oneof(
  fc.integer({ min: 0, max: LIMIT }),
  fc
    .tuple(fc.integer({ min: 0, max: 11 }), fc.integer({ min: -2, max: 2 }))
    .map(([page, by]) => Math.max(0, page * PAGE_BYTES + by)),
);
const modes = [0, 1, 3, 8, 16, 17, 32];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    op: fc.constant('write' as const),
    offset: place,
    length: fc.integer({ min: 1, max: 9000 }),
    seed: fc.nat(255),
  }),
  fc.record({ op: fc.constant('truncate' as const), offset: place }),
  fc.record({
    op: fc.constant('fallocate' as const),
    mode: fc.constantFrom(...modes),
    offset: place,
    length: fc
      .oneof(
        place,
        fc.integer({ min: 1, max: 5 }).map((pages) => pages * PAGE_BYTES),
      )
      .filter((length) => length > 0),
  }),
  fc.record({ op: fc.constantFrom('writeBack' as const, 'reclaim' as const) }),
);

/** A file as bytes, and which of its pages take space. */
class ModelFile {
  bytes: number[] = [];
  taken: Set<number> = new Set();

  write(offset: number, data: Uint8Array): void {
    this.extend(offset + data.length);
    data.forEach((byte, at) => {
      this.bytes[offset + at] = byte;
    });
    this.take(offset, offset + data.length);
  }

  truncate(size: number): void {
    const longer = size > this.bytes.length;
    this.extend(size);
    if (longer) return;
    this.bytes.length = size;
    for (const page of this.taken) if (page * PAGE_BYTES >= size) this.taken.delete(page);
  }

  fallocate(mode: number, offset: number, length: number): string {
    const end = offset + length;
    if (mode === FallocateMode.collapseRange || mode === FallocateMode.insertRange)
      return this.move(mode, offset, length);
    if (mode !== 3) this.take(offset, end);
    if ((mode & (FallocateMode.punchHole | FallocateMode.zeroRange)) !== 0) {
      for (let at = offset; at < Math.min(end, this.bytes.length); at++) this.bytes[at] = 0;
    }
    if (mode === 3) {
      // The last page goes too if the hole takes all that the file has of it.
      const { length: size } = this.bytes;
      const reached = end > size ? Math.max(end, Math.ceil(size / PAGE_BYTES) * PAGE_BYTES) : end;
      for (const page of this.taken) {
        if (page * PAGE_BYTES >= offset && (page + 1) * PAGE_BYTES <= reached) this.taken.delete(page);
      }
    }
    if ((mode & FallocateMode.keepSize) === 0) this.extend(end);
    return 'none';
  }

  private move(mode: number, offset: number, length: number): string {
    const insert = mode === FallocateMode.insertRange;
    if (offset % PAGE_BYTES !== 0 || length % PAGE_BYTES !== 0) return 'EINVAL';
    if (insert ? offset >= this.bytes.length : offset + length >= this.bytes.length) return 'EINVAL';
    const first = offset / PAGE_BYTES;
    const count = length / PAGE_BYTES;
    if (insert) this.bytes.splice(offset, 0, ...new Array<number>(length).fill(0));
    else this.bytes.splice(offset, length);
    const taken = [...this.taken].filter((page) => insert || page < first || page >= first + count);
    this.taken = new Set(taken.map((page) => (page < first ? page : page + (insert ? count : -count))));
    return 'none';
  }

  private take(offset: number, end: number): void {
    for (let page = Math.floor(offset / PAGE_BYTES); page * PAGE_BYTES < end; page++) this.taken.add(page);
  }

  private extend(size: number): void {
    while (this.bytes.length < size) this.bytes.push(0);
  }
}

function apply(mounted: Mounted, inode: Inode, model: ModelFile, step: Step): void {
  const { fs, cache, run } = mounted;
  switch (step.op) {
    case 'write': {
      const data = Uint8Array.from({ length: step.length }, (_, at) => (step.seed + at * 7 + (at >> 8)) & 255);
      run(writeFile(mounted, inode, step.offset, data));
      model.write(step.offset, data);
      break;
    }
    case 'truncate':
      run(fs.setAttributes(inode, { size: step.offset }));
      model.truncate(step.offset);
      break;
    case 'fallocate': {
      const code = errorCode(() => run(fs.fallocate(inode, step.mode, step.offset, step.length)));
      expect(code).toBe(model.fallocate(step.mode, step.offset, step.length));
      break;
    }
    case 'reclaim':
      run(cache.writeBack(inode, WritebackReason.reclaim));
      expect(cache.invalidate(inode, 0, 1 << 20)).toBe(0);
      break;
    default:
      run(cache.writeBack(inode, WritebackReason.background));
  }
}

test('a file is the bytes that were written, whatever is written back and reclaimed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const mounted = mountMemFs();
      const { fs, run } = mounted;
      const inode = run(fs.create(fs.root(), 'f', { kind: FileKind.regular, mode: 0o644, uid: 0, gid: 0 }));
      const model = new ModelFile();
      for (const one of steps) {
        apply(mounted, inode, model, one);
        expect(inode.size).toBe(model.bytes.length);
        expect(inode.sectors).toBe(model.taken.size * 8);
        expect(fs.status().blocks - fs.status().free).toBe(model.taken.size);
        const found = run(readFile(mounted, inode, 0, inode.size));
        expect(Buffer.from(found).equals(Buffer.from(model.bytes))).toBe(true);
      }
      run(fs.unlink(fs.root(), 'f', inode));
      run(fs.evict(inode));
      expect(fs.status().free).toBe(fs.status().blocks);
    }),
    { numRuns: long ? 4000 : full ? 1500 : 150 },
  );
});
