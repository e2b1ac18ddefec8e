import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { FileStatus, type FsError } from '@flashstack/vfs';
import { afterAll, expect, test } from 'vitest';
import { mkfs } from '../src/index.js';
import { e2fsck, e2fsprogsMissing } from './oracle.js';
import { bytesOf, full, HASH_SEED, hostOn, TIME, UUID } from './support.js';

const ENTRIES = full ? 100_000 : 15_000;
/** Every so many names go again. */
const REMOVED = 7;
const folder = mkdtempSync(join(tmpdir(), 'flashstack-'));
const image = join(folder, 'image');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const skip = e2fsprogsMissing('a large directory is not checked');

const nameOf = (at: number): string => `entry number ${at * 7919} of a large directory`;

test.skipIf(skip)(`a directory of ${ENTRIES} entries is sound for e2fsck, and debugfs lists and finds them`, () => {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockCount: 16_384 });
  // Names of one inode: what is tested is the directory.
  runTask(simulator, mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, bytesPerInode: 65_536 }));
  const host = hostOn(simulator, device);
  host.run(host.mount());
  const process = host.process();
  host.run(
    (function* (): Task<void> {
      const thread = process.thread();
      const wait = function* (call: number | Task<number>): Task<void> {
        if (typeof call !== 'number') yield* call;
      };
      yield* wait(thread.mkdir('/d', 0o755));
      yield* wait(thread.mknod('/d/file 0', 0o100644, 0));
      // A file has at most 65,000 names.
      let file = 0;
      for (let at = 0; at < ENTRIES; at++) {
        if (at % 50_000 === 49_999) yield* wait(thread.mknod(`/d/file ${++file}`, 0o100644, 0));
        yield* wait(thread.link(`/d/file ${file}`, `/d/${nameOf(at)}`));
      }
      for (let at = 0; at < ENTRIES; at += REMOVED) yield* wait(thread.unlink(`/d/${nameOf(at)}`));
      const status = new FileStatus();
      yield* wait(thread.lstat(`/d/${nameOf(ENTRIES - 3)}`, status));
      try {
        yield* wait(thread.lstat(`/d/${nameOf(0)}`, status));
        expect.fail('a removed name is found');
      } catch (error) {
        expect((error as FsError).code).toBe('ENOENT');
      }
      yield* process.exit();
    })(),
  );
  host.run(host.unmount());
  writeFileSync(image, bytesOf(simulator, device));
  const { status, output } = e2fsck(image, ['-fn'], TIME + 10 ** 6);
  expect([status, status === 0 ? '' : output]).toEqual([0, '']);
  const env = { LC_ALL: 'C', PATH: '/usr/sbin:/sbin:/usr/bin:/bin' };
  const debugfs = (request: string): string =>
    execFileSync('debugfs', ['-R', request, image], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 28,
    });
  const listed = new Set([...debugfs('ls -p /d').matchAll(/\/([^/]+)\/[^/]*\/$/gm)].map(([, name]) => name));
  for (let at = 0; at < ENTRIES; at++) {
    if (listed.has(nameOf(at)) === (at % REMOVED === 0)) expect.fail(`${nameOf(at)} is listed wrongly`);
  }
  const levels = /indirect levels: (\d+)/i.exec(debugfs('htree_dump /d'))?.[1];
  expect(Number(levels)).toBe(full ? 1 : 0);
});
