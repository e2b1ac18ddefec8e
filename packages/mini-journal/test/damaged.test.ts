import { BlockOp, IoBatch, type MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { FileStatus, OpenFlag } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { layoutOf } from '../src/layout.js';
import { formatted, hostOn } from './support.js';

const BLOCKS = 512;
const layout = layoutOf(BLOCKS);
const INODE = 2;

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

/** Changes a block of a device. */
function* patch(device: MemoryDevice, block: number, change: (view: DataView) => void): Task<void> {
  const bytes = new Uint8Array(4096);
  for (const op of [BlockOp.read, BlockOp.write]) {
    const batch = new IoBatch(device);
    batch.add(op, block, 1).data = bytes;
    yield batch;
    if (op === BlockOp.read) change(new DataView(bytes.buffer));
  }
}

/** What a look at `/f`, which is inode 2, ends with after its record or another block was changed. */
function lookAfter(block: number, change: (view: DataView) => void, link = false): string {
  const simulator = new Simulator();
  const device = formatted(simulator, BLOCKS * 4096);
  const first = hostOn(simulator, device);
  first.run(first.mount());
  const program = first.process();
  const thread = program.thread();
  first.run(
    (function* (): Task<void> {
      if (link) yield* go(thread.symlink('target', '/f'));
      else {
        const fd = yield* go(thread.open('/f', OpenFlag.create | OpenFlag.writeOnly, 0o644));
        yield* go(thread.write(fd, new Uint8Array(5000).fill(7), 5000));
        yield* go(thread.close(fd));
      }
    })(),
  );
  first.run(program.exit());
  first.run(first.unmount());
  runTask(simulator, patch(device, block, change));
  const host = hostOn(simulator, device);
  try {
    host.run(host.mount());
    host.run(go(host.process().thread().lstat('/f', new FileStatus())));
    return 'nothing';
  } catch (error) {
    return (error as Error).message;
  }
}

const record = (change: (view: DataView) => void) => (view: DataView) =>
  change(new DataView(view.buffer, INODE * 256, 256));

test.each([
  ['a size that is none', record((view) => view.setFloat64(16, Number.NaN, true)), /inode 2: size NaN/],
  [
    'a block twice',
    record((view) => view.setUint32(100, view.getUint32(96, true), true)),
    /page 1: block \d+ occurs twice/,
  ],
  [
    'a block of the layout',
    record((view) => view.setUint32(96, 3, true)),
    /inode 2, page 0: block 3 is outside the data/,
  ],
  ['a block of another inode', record((view) => view.setUint32(96, layout.dataStart, true)), /belongs to inode 1/],
  ['a block that is free', record((view) => view.setUint32(96, BLOCKS - 1, true)), /is free in the bitmap/],
  ['a page behind the end', record((view) => view.setFloat64(16, 10, true)), /inode 2: page 1 is behind the end/],
  ['a time that is none', record((view) => view.setUint32(76, 1e9, true)), /inode 2: a time/],
  [
    'another kind than its entry tells',
    record((view) => view.setUint16(0, 0o10644, true)),
    /of kind 8 leads to inode 2 of kind 1/,
  ],
])('an inode with %s is refused', (_, change, message) => {
  expect(lookAfter(layout.inodeStart, change)).toMatch(message);
});

test('a symbolic link longer than its block is refused, not read', () => {
  const huge = record((view) => view.setFloat64(16, 2 ** 31, true));
  expect(lookAfter(layout.inodeStart, huge, true)).toMatch(/inode 2: a symbolic link of size 2147483648/);
});

test.each([
  ['without a length', (view: DataView) => view.setUint8(5, 0), /entry \d+: a name that is none/],
  ['of a kind that does not exist', (view: DataView) => view.setUint8(4, 15), /entry \d+: kind 15/],
])('an entry %s is refused', (_, change, message) => {
  const first = (view: DataView): void => {
    for (let slot = 0; slot < 15; slot++) {
      if (view.getUint32(slot * 264, true) !== 0) change(new DataView(view.buffer, slot * 264, 264));
    }
  };
  expect(lookAfter(layout.dataStart, first)).toMatch(message);
});
