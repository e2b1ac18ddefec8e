import { MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { FallocateMode, type FsError, OpenFlag } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { fsck, mkfs } from '../src/index.js';
import { HASH_SEED, hostOn, TIME, UUID } from './support.js';

const PAGE = 4096;
/** Of the file that fills the volume, in blocks; a little is left. */
const LENGTH = 54_000;
/** Holes of 64 blocks in the first group, and of 16 in the second. */
const HOLES = [
  { from: 2_000, to: 26_000, every: 128, length: 64 },
  { from: 34_000, to: 53_000, every: 32, length: 16 },
];

test('space for a file is put together of what is free, in a group whose pieces are smaller than those of the one before', () => {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockCount: 65_536, features: { volatileCache: true } });
  runTask(simulator, mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, reservedPercent: 0 }));
  const host = hostOn(simulator, device);
  host.run(host.mount());
  const process = host.process();
  const thread = process.thread();
  host.run(
    (function* (): Task<void> {
      const go = function* (call: number | Task<number>): Task<number> {
        return typeof call === 'number' ? call : yield* call;
      };
      const old = yield* go(thread.open('/old', OpenFlag.create | OpenFlag.readWrite, 0o644));
      yield* go(thread.fallocate(old, FallocateMode.allocate, 0, LENGTH * PAGE));
      // Little is left behind it: blocks of the extent tree.
      for (let at = LENGTH, piece = 1024; piece >= 64; ) {
        try {
          yield* go(thread.fallocate(old, FallocateMode.allocate, at * PAGE, piece * PAGE));
          at += piece;
        } catch (error) {
          expect((error as FsError).code).toBe('ENOSPC');
          piece /= 4;
        }
      }
      const punch = FallocateMode.punchHole | FallocateMode.keepSize;
      for (const { from, to, every, length } of HOLES) {
        for (let at = from; at < to; at += every) yield* go(thread.fallocate(old, punch, at * PAGE, length * PAGE));
      }
      yield* go(thread.sync());
      const added = yield* go(thread.open('/new', OpenFlag.create | OpenFlag.readWrite, 0o644));
      yield* go(thread.fallocate(added, FallocateMode.allocate, 0, 18_000 * PAGE));
      yield* process.exit();
    })(),
  );
  host.run(host.unmount());
  expect(runTask(simulator, fsck(device))).toEqual([]);
});
