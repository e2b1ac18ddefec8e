import { BlockOp, IoBatch, type MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { OpenFlag } from '@flashstack/vfs';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkMiniJournal } from '../src/index.js';
import { layoutOf } from '../src/layout.js';
import { formatted, hostOn } from './support.js';

const { create, writeOnly } = OpenFlag;
const BLOCKS = 512;
const layout = layoutOf(BLOCKS);

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

/** A volume with directories, links, a large file and a symbolic link, cleanly unmounted. */
function filled(unmount: boolean): { simulator: Simulator; device: MemoryDevice } {
  const simulator = new Simulator();
  const device = formatted(simulator, BLOCKS * 4096);
  const host = hostOn(simulator, device);
  host.run(host.mount());
  const process = host.process();
  const thread = process.thread();
  host.run(
    (function* (): Task<void> {
      yield* go(thread.mkdir('/a', 0o755));
      yield* go(thread.mkdir('/a/b', 0o755));
      yield* go(thread.symlink('/somewhere', '/a/link'));
      const fd = yield* go(thread.open('/a/b/large', create | writeOnly, 0o644));
      yield* go(thread.write(fd, new Uint8Array(80_000).fill(7), 80_000));
      yield* go(thread.fsync(fd));
      yield* go(thread.close(fd));
      yield* go(thread.link('/a/b/large', '/second'));
      yield* go(thread.sync());
    })(),
  );
  if (unmount) {
    host.run(process.exit());
    host.run(host.unmount());
  } else host.cutPower();
  return { simulator, device };
}

describe('the checker', () => {
  let simulator: Simulator;
  let device: MemoryDevice;
  const check = (): string[] => runTask(simulator, checkMiniJournal(device));

  beforeEach(() => {
    ({ simulator, device } = filled(true));
  });

  /** Changes a block of the volume. */
  function change(block: number, edit: (view: DataView) => void): void {
    const bytes = new Uint8Array(4096);
    for (const op of [BlockOp.read, BlockOp.write]) {
      const batch = new IoBatch(device);
      batch.add(op, block, 1).data = bytes;
      runTask(
        simulator,
        (function* (): Task<void> {
          yield batch;
        })(),
      );
      if (op === BlockOp.read) edit(new DataView(bytes.buffer));
    }
  }

  /** Changes the record of an inode: 1 the root, 2 a, 3 b, 4 link, 5 large. */
  const inode = (ino: number, edit: (view: DataView) => void): void =>
    change(layout.inodeStart, (block) => edit(new DataView(block.buffer, ino * 256, 256)));

  it('is silent about a sound volume, unmounted or cut off', () => {
    expect(check()).toEqual([]);
    ({ simulator, device } = filled(false));
    expect(check()).toEqual([]);
  });

  it('says what is no volume', () => {
    change(0, (view) => view.setUint32(0, 1));
    expect(check()).toEqual(['EINVAL: invalid argument: superblock: no mini-journal file system']);
  });

  it('says that the journal has no header', () => {
    change(1, (view) => view.setUint32(16, 77, true));
    expect(check()).toEqual(['journal: block 0 is no header']);
  });

  it.each([
    ['a link count', 5, 4, 3, 'inode 5: 3 links, 2 lead to it'],
    ['the link count of a directory', 2, 4, 2, 'inode 2: 2 links, 3 lead to it'],
    ['a parent', 3, 32, 1, 'directory 3: parent 1, it is in 2'],
    ['a block out of range', 5, 96, 9999, 'inode 5: page 0: block 9999 is out of range'],
    [
      'an indirect block in the layout',
      5,
      96 + 48,
      3,
      'inode 5: indirect block of page 12: block 3 belongs to the layout',
    ],
  ])('names %s', (_what, ino, offset, value, text) => {
    inode(ino, (view) => view.setUint32(offset, value, true));
    expect(check()).toContain(text);
  });

  it('names a size, a page behind the end, a kind and an inode that nothing leads to', () => {
    inode(5, (view) => view.setFloat64(16, -1, true));
    expect(check()).toContain('inode 5: size -1');
    inode(5, (view) => view.setFloat64(16, 4096, true));
    expect(check()).toContain('inode 5: page 1 is behind the end');
    inode(5, (view) => view.setUint16(0, 0x3000, true));
    expect(check()).toContain('inode 5: kind 3');
    inode(9, (view) => view.setUint16(0, 0x8000, true));
    expect(check()).toContain('inode 9: no name leads to it');
    expect(runTask(simulator, checkMiniJournal(device, true))).not.toContain('inode 9: no name leads to it');
  });

  it('names blocks that the bitmap is wrong about', () => {
    change(layout.bitmapStart, (view) => view.setUint8(60, 255));
    expect(check()).toContain('bitmap: block 480 is taken, nobody uses it');
    change(layout.bitmapStart, (view) => view.setUint8(layout.dataStart >> 3, 0));
    expect(check().join()).toMatch(/bitmap: block \d+ is free, used by inode \d: page 0/);
  });

  it('names entries that lead nowhere, are there twice, or have no name', () => {
    // The first block of the root directory: slots are taken from its end, `a` first.
    const entry = (at: number, edit: (view: DataView) => void): void =>
      change(layout.dataStart, (view) => edit(new DataView(view.buffer, at * 264, 264)));
    const bytes: number[] = [];
    entry(14, (view) => {
      for (let at = 0; at < 264; at++) bytes.push(view.getUint8(at));
    });
    entry(4, (view) => {
      for (const [at, byte] of bytes.entries()) view.setUint8(at, byte);
    });
    expect(check()).toContain('directory 1: entry 14: "a" is there twice');
    expect(check()).toContain('directory 2: 2 names lead to it');
    entry(4, (view) => view.setUint32(0, 40, true));
    expect(check()).toContain('directory 1: entry 4: "a" leads to inode 40, which is no such file');
    entry(4, (view) => view.setUint8(5, 0));
    expect(check()).toContain('directory 1: entry 4: name ""');
  });

  it('names directories that are in themselves', () => {
    // b leaves a and enters itself: its own first block is the one that page 0 of inode 3 names.
    let inA = 0;
    let inB = 0;
    inode(2, (view) => {
      inA = view.getUint32(96, true);
      view.setUint32(4, 2, true);
    });
    change(inA, (view) => {
      for (let slot = 0; slot < 15; slot++) if (view.getUint32(slot * 264, true) === 3) view.setUint32(slot * 264, 0);
    });
    inode(3, (view) => {
      inB = view.getUint32(96, true);
      view.setUint32(4, 3, true);
      view.setUint32(32, 3, true);
    });
    change(inB, (view) => {
      const at = 4 * 264;
      view.setUint32(at, 3, true);
      view.setUint8(at + 4, 4);
      view.setUint8(at + 5, 1);
      view.setUint8(at + 8, 98);
    });
    expect(check()).toEqual(['directory 3: it is in itself']);
  });
});
