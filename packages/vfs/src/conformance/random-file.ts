import { RandomSource, type RandomStream, type Task } from '@flashstack/sim';
import { FallocateMode, FileAdvice, OpenFlag } from '../index.js';
import { codeOf, equal, go, type Tester } from './harness.js';

const { append, create, direct, readWrite } = OpenFlag;
const { collapseRange, insertRange, keepSize, punchHole, zeroRange } = FallocateMode;
/** Largest file of a random test, bytes. */
const LIMIT = 300_000;

/** A file as bytes: what a random test compares with. */
class ByteFile {
  bytes: Uint8Array = new Uint8Array(0);

  resize(size: number): void {
    const bytes = new Uint8Array(size);
    bytes.set(this.bytes.subarray(0, size));
    this.bytes = bytes;
  }

  write(offset: number, data: Uint8Array): void {
    if (offset + data.length > this.bytes.length) this.resize(offset + data.length);
    this.bytes.set(data, offset);
  }

  zero(offset: number, end: number): void {
    this.bytes.fill(0, offset, end);
  }

  move(offset: number, length: number, insert: boolean): void {
    const head = this.bytes.subarray(0, offset);
    const tail = this.bytes.subarray(insert ? offset : offset + length);
    const bytes = new Uint8Array(this.bytes.length + (insert ? length : -length));
    bytes.set(head);
    bytes.set(tail, insert ? offset + length : offset);
    this.bytes = bytes;
  }
}

/** Random operations on one file through several descriptors, each compared with the same on an array of bytes. */
export function* randomFile(t: Tester, seed: number, steps: number): Task<void> {
  const random = new RandomSource(seed).stream('random file');
  const model = new ByteFile();
  let files = yield* openAll(t);
  for (let step = 0; step < steps; step++) {
    const what = `seed ${seed}, step ${step}`;
    if (random.below(60) === 0) {
      yield* t.remount();
      files = yield* openAll(t);
    }
    yield* one(t, random, model, files, what);
    equal((yield* t.fstat(files.plain)).size, model.bytes.length, `${what}: size`);
  }
  yield* compare(t, files.plain, model, 0, model.bytes.length + 10, `seed ${seed}, in the end`);
  yield* t.remount();
  files = yield* openAll(t);
  yield* compare(t, files.plain, model, 0, model.bytes.length + 10, `seed ${seed}, after the last remount`);
}

interface Descriptors {
  readonly plain: number;
  readonly appending: number;
  readonly direct: number;
}

function* openAll(t: Tester): Task<Descriptors> {
  return {
    plain: yield* go(t.root.open('/f', create | readWrite, 0o644)),
    appending: yield* go(t.root.open('/f', append | readWrite)),
    direct: yield* go(t.root.open('/f', direct | readWrite)),
  };
}

/** A position that is often at or near the edge of a block. */
function place(random: RandomStream, limit: number): number {
  const any = random.below(limit + 1);
  if (random.below(3) === 0) return any;
  return Math.min(limit, Math.max(0, Math.round(any / 4096) * 4096 + random.below(5) - 2));
}

function data(random: RandomStream, length: number): Uint8Array {
  const first = random.below(256);
  const step = 1 + random.below(255);
  return Uint8Array.from({ length }, (_, at) => first + at * step + (at >> 8));
}

function* one(t: Tester, random: RandomStream, model: ByteFile, files: Descriptors, what: string): Task<void> {
  const { plain } = files;
  const kind = random.below(16);
  const offset = place(random, LIMIT);
  const length = 1 + place(random, kind === 0 ? 100_000 : 20_000);
  if (kind <= 4) {
    const bytes = data(random, Math.min(length, LIMIT - offset));
    if (bytes.length === 0) return;
    equal(yield* go(t.root.pwrite(plain, bytes, bytes.length, offset)), bytes.length, `${what}: bytes written`);
    model.write(offset, bytes);
  } else if (kind === 5) {
    const bytes = data(random, Math.min(1 + random.below(5000), LIMIT - model.bytes.length));
    if (bytes.length === 0) return;
    yield* go(t.root.write(files.appending, bytes, bytes.length));
    model.write(model.bytes.length, bytes);
  } else if (kind <= 8) {
    yield* compare(t, plain, model, offset, length, what);
  } else if (kind === 9) {
    const size = random.below(4) === 0 ? 0 : offset;
    yield* go(t.root.ftruncate(plain, size));
    model.resize(size);
  } else if (kind === 10) {
    yield* store(t, random, model, plain, offset, length);
  } else if (kind === 11) {
    yield* directly(t, random, model, files.direct, offset, what);
  } else if (kind === 12) {
    yield* go(random.below(2) === 0 ? t.root.fsync(plain) : t.root.sync());
    yield* go(t.root.fadvise(plain, 0, 0, FileAdvice.dontNeed));
  } else {
    yield* allocate(t, random, model, plain, offset, length, what);
  }
}

function* compare(t: Tester, fd: number, model: ByteFile, offset: number, length: number, what: string): Task<void> {
  const found = new Uint8Array(length).fill(0xee);
  const read = yield* go(t.root.pread(fd, found, length, offset));
  const expected = model.bytes.subarray(offset, offset + length);
  equal(read, expected.length, `${what}: bytes read from ${offset}`);
  for (let at = 0; at < read; at++) {
    if (found[at] !== expected[at]) equal(found[at], expected[at], `${what}: byte ${offset + at}`);
  }
}

/** Through a mapping, within the file. */
function* store(
  t: Tester,
  random: RandomStream,
  model: ByteFile,
  fd: number,
  offset: number,
  length: number,
): Task<void> {
  const part = Math.min(length, model.bytes.length - offset);
  if (part <= 0) return;
  const bytes = data(random, part);
  yield* go(t.root.touch(fd, offset, part, true, bytes));
  model.write(offset, bytes);
}

function* directly(
  t: Tester,
  random: RandomStream,
  model: ByteFile,
  fd: number,
  offset: number,
  what: string,
): Task<void> {
  const unit = Math.max(t.capabilities.directBytes, 512);
  const first = Math.floor(offset / unit) * unit;
  const length = unit * (1 + random.below(8));
  if (first + length > LIMIT) return;
  if (random.below(2) === 0) {
    const bytes = data(random, length);
    equal(yield* go(t.root.pwrite(fd, bytes, length, first)), length, `${what}: bytes written directly`);
    model.write(first, bytes);
  } else {
    yield* compare(t, fd, model, first, length, `${what}, directly`);
  }
}

function* allocate(
  t: Tester,
  random: RandomStream,
  model: ByteFile,
  fd: number,
  offset: number,
  length: number,
  what: string,
): Task<void> {
  const modes = t.capabilities.fallocate;
  if (modes.length === 0) return;
  const mode = modes[random.below(modes.length)];
  const moves = (mode & (collapseRange | insertRange)) !== 0;
  const unit = moves ? 4096 : 1;
  const from = Math.floor(offset / unit) * unit;
  const count = Math.ceil(length / unit) * unit;
  const { length: size } = model.bytes;
  if (!moves && from + count > LIMIT) return;
  if (mode === insertRange && size + count > LIMIT) return;
  const refused = mode === collapseRange ? from + count >= size : mode === insertRange && from >= size;
  const code = yield* codeOf(() => t.root.fallocate(fd, mode, from, count));
  equal(code, refused ? 'EINVAL' : 'none', `${what}: fallocate ${mode} ${from}+${count} of ${size}`);
  if (refused) return;
  if (moves) model.move(from, count, mode === insertRange);
  else {
    if ((mode & (punchHole | zeroRange)) !== 0) model.zero(from, Math.min(from + count, size));
    if ((mode & keepSize) === 0 && from + count > size) model.resize(from + count);
  }
}
