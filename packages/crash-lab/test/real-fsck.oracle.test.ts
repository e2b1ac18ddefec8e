import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlockOp, MemoryDevice, submitAndWait } from '@flashstack/block-device';
import { type CheckedFormat, realFsck, writeImage } from '@flashstack/crash-lab/node';
import { InputError, runTask, Simulator } from '@flashstack/sim';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'flashstack-fsck-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Format {
  readonly mkfs: readonly [program: string, ...args: string[]];
  readonly checker: string;
  readonly bytes: number;
  /** A block that no volume can do without: the root directory, its inode. */
  readonly root: number;
  readonly complaint: RegExp;
}

const formats: Readonly<Record<CheckedFormat, Format>> = {
  ext4: {
    mkfs: ['mkfs.ext4', '-q', '-F', '-b', '4096'],
    checker: 'e2fsck',
    bytes: 64 << 20,
    root: 10,
    complaint: /Directory inode 2, block #0, offset 0: directory corrupted/,
  },
  f2fs: {
    mkfs: ['mkfs.f2fs', '-q'],
    checker: 'fsck.f2fs',
    bytes: 64 << 20,
    root: 4096,
    complaint: /nid\[0x3\] nat_entry->ino\[0x3\] footer.ino\[0x0\]/,
  },
};

function missing(format: CheckedFormat): boolean {
  const { mkfs, checker } = formats[format];
  try {
    execFileSync('sh', ['-c', `PATH=$PATH:/usr/sbin; command -v ${mkfs[0]} && command -v ${checker}`]);
    return false;
  } catch {
    const message = `${mkfs[0]} or ${checker} is missing: nothing shows that verdicts of ${checker} are understood`;
    if (process.env.CI) throw new Error(message);
    process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
    return true;
  }
}

function make(format: CheckedFormat): string {
  const { mkfs, bytes } = formats[format];
  const path = join(folder, format);
  writeFileSync(path, '');
  truncateSync(path, bytes);
  execFileSync(mkfs[0], [...mkfs.slice(1), path], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: 'ignore',
  });
  return path;
}

describe.each(Object.keys(formats) as CheckedFormat[])('%s', (format) => {
  test.skipIf(missing(format))('a fresh volume is clean, one without root directory is not; neither is changed', () => {
    const { root, complaint } = formats[format];
    const path = make(format);
    const fresh = readFileSync(path);
    const verdict = realFsck(format, path);
    expect(verdict.complaints).toEqual([]);
    expect(verdict.clean).toBe(true);
    expect(readFileSync(path).equals(fresh)).toBe(true);

    const file = openSync(path, 'r+');
    writeSync(file, new Uint8Array(4096), 0, 4096, 4096 * root);
    closeSync(file);
    const hurt = readFileSync(path);
    const bad = realFsck(format, path);
    expect(bad.clean).toBe(false);
    expect(bad.complaints.join('\n')).toMatch(complaint);
    expect(readFileSync(path).equals(hurt)).toBe(true);
  });

  test.skipIf(missing(format))('what is no volume at all is not clean', () => {
    const path = join(folder, 'zeroes');
    writeFileSync(path, new Uint8Array(1 << 20));
    expect(realFsck(format, path).clean).toBe(false);
  });
});

test('an image that is not there is an error, not a verdict', () => {
  expect(() => realFsck('ext4', join(folder, 'absent'))).toThrow(InputError);
});

test('a device becomes a file of its size, with holes for zeroes', () => {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockCount: 1000 });
  const contents = Buffer.alloc(1000 * 4096);
  for (const block of [0, 63, 64, 700, 998]) {
    contents.fill(`block ${block}`, block * 4096, (block + 1) * 4096);
    const data = contents.subarray(block * 4096, (block + 1) * 4096);
    submitAndWait(simulator, device, { op: BlockOp.write, block, count: 1, data });
  }
  const path = join(folder, 'written');
  runTask(simulator, writeImage(device, path));
  expect(readFileSync(path).equals(contents)).toBe(true);
  expect(Number(execFileSync('stat', ['-c', '%b', path])) * 512).toBeLessThan(100_000);
});
