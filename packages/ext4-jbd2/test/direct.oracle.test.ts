import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BlockDevice,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  type MemoryDevice,
  Origin,
  RecordingDevice,
  WrapperDevice,
} from '@flashstack/block-device';
import type { Host } from '@flashstack/host';
import { RandomSource, type RandomStream, Simulator, type Task } from '@flashstack/sim';
import { FallocateMode, FileStatus, FsError, OpenFlag, type Thread } from '@flashstack/vfs';
import { afterAll, describe, expect, test } from 'vitest';
import { e2fsck, e2fsprogsMissing } from './oracle.js';
import { bytesOf, formatted, full, hostOn, TIME } from './support.js';

const PAGE = 4096;
const PAGES = 64;
const SEEDS = full ? 60 : 8;
const STEPS = 120;
/** What a removed file has left in the free blocks: it must never show again. */
const OLD = 0xee;
const { create, direct, readWrite, truncate } = OpenFlag;
const skip = e2fsprogsMissing('images that direct I/O leaves are not checked');
const folder = mkdtempSync(join(tmpdir(), 'flashstack-'));
const image = join(folder, 'image');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function* go(call: number | Task<number>): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

/** Runs a program of one thread on a host that is mounted for it. */
function run<T>(host: Host, program: (thread: Thread) => Task<T>): T {
  const process = host.process();
  try {
    return host.run(program(process.thread()));
  } finally {
    host.run(process.exit());
  }
}

function mounted(simulator: Simulator, device: BlockDevice): Host {
  const host = hostOn(simulator, device);
  host.run(host.mount());
  return host;
}

/** A drive that can refuse contents of files, and nothing else. */
class RefusingDevice extends WrapperDevice {
  refuses = false;

  constructor(device: BlockDevice) {
    super(device, device.blockCount);
  }

  protected accept(request: BlockRequest): void {
    if (!this.refuses || request.op !== BlockOp.write || request.origin !== Origin.fileData) {
      this.forward(request, this.hold(request), 0);
      return;
    }
    request.status = BlockStatus.ioError;
    request.owner.ioDone(request);
  }
}

/** A file system whose free blocks are full of something old. */
function used(simulator: Simulator): MemoryDevice {
  const device = formatted(simulator, 2 * 2 ** 20);
  const host = mounted(simulator, device);
  run(host, function* (thread) {
    const fd = yield* go(thread.open('/old', create | readWrite, 0o644));
    const bytes = new Uint8Array(PAGE).fill(OLD);
    try {
      for (;;) yield* go(thread.write(fd, bytes, PAGE));
    } catch (error) {
      if (!(error instanceof FsError) || error.code !== 'ENOSPC') throw error;
    }
    yield* go(thread.fsync(fd));
    yield* go(thread.close(fd));
    yield* go(thread.unlink('/old'));
  });
  host.run(host.unmount());
  return device;
}

/** What a file should hold, and what each page may hold after a power cut. */
class Model {
  contents = new Uint8Array(0);
  /** By page: values that were written there. */
  readonly ever: Set<number>[] = Array.from({ length: PAGES * 2 }, () => new Set([0]));

  resize(size: number): void {
    const next = new Uint8Array(size);
    next.set(this.contents.subarray(0, size));
    this.contents = next;
  }

  write(offset: number, length: number, value: number): void {
    if (offset + length > this.contents.length) this.resize(offset + length);
    this.contents.fill(value, offset, offset + length);
    for (let page = Math.floor(offset / PAGE); page * PAGE < offset + length; page++) this.ever[page].add(value);
  }
}

function* step(thread: Thread, fds: readonly [number, number], random: RandomStream, model: Model): Task<void> {
  const [cached, past] = fds;
  const value = 1 + random.below(200);
  const page = random.below(PAGES);
  const pages = 1 + random.below(12);
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2: {
      const bytes = new Uint8Array(pages * PAGE).fill(value);
      expect(yield* go(thread.pwrite(past, bytes, bytes.length, page * PAGE))).toBe(bytes.length);
      return model.write(page * PAGE, bytes.length, value);
    }
    case 3:
    case 4: {
      const offset = random.below(PAGES * PAGE);
      const bytes = new Uint8Array(1 + random.below(20_000)).fill(value);
      yield* go(thread.pwrite(cached, bytes, bytes.length, offset));
      return model.write(offset, bytes.length, value);
    }
    case 5: {
      const size = random.below(PAGES * PAGE);
      yield* go(thread.ftruncate(cached, size));
      return model.resize(size);
    }
    case 6: {
      const mode = [FallocateMode.keepSize, FallocateMode.keepSize | FallocateMode.punchHole][random.below(2)];
      yield* go(thread.fallocate(cached, mode, page * PAGE, pages * PAGE));
      if ((mode & FallocateMode.punchHole) !== 0) model.contents.fill(0, page * PAGE, (page + pages) * PAGE);
      return;
    }
    case 7:
      yield* go(thread.fsync(past));
      return;
    default: {
      const fd = random.below(2) === 0 ? past : cached;
      const bytes = new Uint8Array(pages * PAGE);
      const done = yield* go(thread.pread(fd, bytes, bytes.length, page * PAGE));
      const expected = model.contents.subarray(page * PAGE, (page + pages) * PAGE);
      expect(done).toBe(expected.length);
      expect(Buffer.compare(bytes.subarray(0, done), expected)).toBe(0);
    }
  }
}

/** All of a file. */
function* whole(thread: Thread, flags: number): Task<Uint8Array> {
  const fd = yield* go(thread.open('/f', readWrite | flags));
  const status = new FileStatus();
  yield* go(thread.fstat(fd, status));
  const bytes = new Uint8Array(Math.ceil(status.size / PAGE) * PAGE);
  const done = yield* go(thread.pread(fd, bytes, bytes.length, 0));
  expect(done).toBe(status.size);
  yield* go(thread.close(fd));
  return bytes.subarray(0, done);
}

function complaints(simulator: Simulator, device: MemoryDevice): string {
  writeFileSync(image, bytesOf(simulator, device));
  const { status, output } = e2fsck(image, ['-fn'], TIME + 10 ** 6);
  return status === 0 ? '' : output;
}

describe.skipIf(skip)('direct I/O', () => {
  test(`mixed with the cache, ${SEEDS} programs give what an array of bytes gives; nothing old shows after a power cut`, () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const simulator = new Simulator();
      const device = used(simulator);
      const random = new RandomSource(seed).stream('direct');
      const model = new Model();
      const first = mounted(simulator, device);
      const cutAt = seed % 2 === 0 ? random.below(STEPS) : STEPS;
      const process = first.process();
      first.run(
        (function* (): Task<void> {
          const thread = process.thread();
          const cached = yield* go(thread.open('/f', create | readWrite | truncate, 0o644));
          const past = yield* go(thread.open('/f', readWrite | direct));
          for (let at = 0; at < cutAt; at++) yield* step(thread, [cached, past], random, model);
        })(),
      );
      if (cutAt < STEPS) {
        first.cutPower();
        const again = mounted(simulator, device);
        const exists = run(again, function* (thread) {
          try {
            return yield* whole(thread, 0);
          } catch (error) {
            if (error instanceof FsError && error.code === 'ENOENT') return new Uint8Array(0);
            throw error;
          }
        });
        for (let at = 0; at < exists.length; at++) {
          if (!model.ever[Math.floor(at / PAGE)].has(exists[at])) {
            expect.fail(`seed ${seed}: byte ${at} is ${exists[at]}, which was never written there`);
          }
        }
        again.run(again.unmount());
      } else {
        first.run(process.exit());
        for (const flags of [0, direct]) {
          const found = run(first, (thread) => whole(thread, flags));
          expect(Buffer.compare(found, model.contents), `seed ${seed}`).toBe(0);
        }
        first.run(first.unmount());
      }
      expect(complaints(simulator, device), `seed ${seed}`).toBe('');
    }
  });

  test('an overwrite is one request of the device, and nothing of the journal until it is asked for', () => {
    const simulator = new Simulator();
    const memory = formatted(simulator, 2 * 2 ** 20);
    const device = new RecordingDevice(memory);
    const host = mounted(simulator, device);
    const bytes = new Uint8Array(4 * PAGE).fill(1);
    run(host, function* (thread) {
      const fd = yield* go(thread.open('/f', create | readWrite | direct, 0o644));
      yield* go(thread.pwrite(fd, bytes, bytes.length, 0));
      yield* go(thread.fsync(fd));
      device.clear();
      yield* go(thread.pwrite(fd, bytes.fill(2), bytes.length, 0));
      yield* go(thread.pread(fd, new Uint8Array(bytes.length), bytes.length, 0));
      const seen = Array.from({ length: device.length }, (_, at) => device.at(at));
      expect(seen.map(({ op, count, origin }) => [op, count, origin])).toEqual([
        [BlockOp.write, 4, Origin.fileData],
        [BlockOp.read, 4, Origin.fileData],
      ]);
      yield* go(thread.fdatasync(fd));
      expect([device.length, device.at(2).op]).toEqual([3, BlockOp.flush]);
      yield* go(thread.close(fd));
    });
    host.run(host.unmount());
  });

  test('contents that the drive refuses leave zeroes, and no longer file, though the blocks are taken and committed', () => {
    const simulator = new Simulator();
    const memory = used(simulator);
    const device = new RefusingDevice(memory);
    const host = mounted(simulator, device);
    run(host, function* (thread) {
      const fd = yield* go(thread.open('/f', create | readWrite | direct, 0o644));
      yield* go(thread.ftruncate(fd, 20 * PAGE));
      const bytes = new Uint8Array(8 * PAGE).fill(1);
      yield* go(thread.pwrite(fd, bytes, bytes.length, 0));
      device.refuses = true;
      for (const page of [10, 18]) {
        try {
          yield* go(thread.pwrite(fd, bytes, bytes.length, page * PAGE));
          expect.fail('the write succeeded');
        } catch (error) {
          expect((error as FsError).code).toBe('EIO');
        }
      }
      device.refuses = false;
      yield* go(thread.sync());
      yield* go(thread.close(fd));
    });
    host.cutPower();
    const again = mounted(simulator, device);
    const expected = new Uint8Array(20 * PAGE).fill(1, 0, 8 * PAGE);
    for (const flags of [direct, 0]) {
      expect(
        Buffer.compare(
          run(again, (thread) => whole(thread, flags)),
          expected,
        ),
      ).toBe(0);
    }
    again.run(again.unmount());
    expect(complaints(simulator, memory)).toBe('');
  });

  test('when the space ends, a write is short or refused, and what was written is there', () => {
    const simulator = new Simulator();
    const device = formatted(simulator, 2 * 2 ** 20);
    const host = mounted(simulator, device);
    const bytes = new Uint8Array(48 * PAGE);
    let end = 0;
    run(host, function* (thread) {
      const fd = yield* go(thread.open('/f', create | readWrite | direct, 0o644));
      for (;;) {
        try {
          end += yield* go(thread.pwrite(fd, bytes.fill(end / PAGE), bytes.length, end));
        } catch (error) {
          if (!(error instanceof FsError) || error.code !== 'ENOSPC') throw error;
          break;
        }
      }
      yield* go(thread.close(fd));
      const found = yield* whole(thread, direct);
      expect(found.length).toBe(end);
    });
    expect(end).toBeGreaterThan(2 * 2 ** 20 - 48 * PAGE);
    host.run(host.unmount());
    expect(complaints(simulator, device)).toBe('');
  });
});
