import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { RandomSource, Simulator } from '@flashstack/sim';
import { afterAll, describe, expect, test } from 'vitest';
import { type FileJobOptions, FileJobs } from '../src/index.js';
import { FixedHost } from './fixed-host.js';

// fio itself says which operations a job consists of, in its own log: order and offsets where nothing is drawn, otherwise
// how many there are, which blocks they cover, and after which writes a sync follows.
const tool = '/usr/bin/fio';
const missing = !existsSync(tool);
if (missing) {
  const message = `${tool} is missing (Debian package fio): nothing confirms what file jobs consist of`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

const names: Readonly<Record<string, string>> = {
  pread: 'read',
  pwrite: 'write',
  fsync: 'sync',
  fdatasync: 'datasync',
};
const flags: Readonly<Record<string, string>> = { ioSize: 'io_size', endFsync: 'end_fsync' };

interface Entry {
  readonly name: string;
  /** Bytes; −1 for a sync. */
  readonly offset: number;
  readonly length: number;
}

describe.skipIf(missing)('fio', () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-fio-jobs-`);
  afterAll(() => rmSync(folder, { recursive: true }));

  function theirs(options: FileJobOptions, log: string): Entry[] {
    const given = Object.entries(options).map(
      ([name, value]) => `--${flags[name] ?? name}=${value === true ? 1 : String(value)}`,
    );
    const args = ['--name=job', `--filename=${log}.data`, '--ioengine=psync', `--write_iolog=${log}`, ...given];
    execFileSync(tool, args, { cwd: folder, stdio: 'ignore' });
    const lines = readFileSync(`${folder}/${log}`, 'utf8').trim().split('\n').slice(1);
    return lines
      .map((line) => line.split(' '))
      .filter(([, , action]) => Object.values(names).includes(action))
      .map(([, , name, offset, length]) => {
        const sync = name.endsWith('sync');
        return { name, offset: sync ? -1 : Number(offset), length: sync ? 0 : Number(length) };
      });
  }

  function ours(options: FileJobOptions): Entry[] {
    const host = new FixedHost(new Simulator());
    new FileJobs(new Simulator(), host, [options], new RandomSource(1)).run();
    return host.log
      .filter((call) => call.pid > 1 && names[call.name] !== undefined)
      .map(({ name, numbers }) => ({ name: names[name], offset: numbers[1] ?? -1, length: numbers[0] ?? 0 }));
  }

  const KIB = 1024;
  test.each<FileJobOptions>([
    { rw: 'write', size: 64 * KIB, fsync: 4 },
    { rw: 'write', size: 64 * KIB, fsync: 4, fdatasync: 2 },
    { rw: 'write', size: 68 * KIB, fdatasync: 4 },
    { rw: 'write', size: 64 * KIB, fsync: 3, endFsync: true },
    { rw: 'write', size: 10 * KIB },
    { rw: 'write', size: 64 * KIB, ioSize: 6 * KIB },
    { rw: 'write', size: 8 * KIB, ioSize: 10 * KIB },
    { rw: 'write', size: 8 * KIB, ioSize: 14 * KIB },
    { rw: 'read', size: 16 * KIB, ioSize: 40 * KIB },
    { rw: 'read', size: 256 * KIB, bs: 64 * KIB, ioSize: 512 * KIB },
  ])('every operation and offset: %j', (options) => {
    expect(ours(options)).toEqual(theirs(options, `exact-${Object.values(options).join('-')}`));
  });

  test.each<FileJobOptions>([
    { rw: 'randwrite', size: 1024 * KIB, fsync: 8 },
    { rw: 'randread', size: 1024 * KIB, bs: 16 * KIB },
    { rw: 'randread', size: 256 * KIB, ioSize: 1024 * KIB },
    { rw: 'randwrite', size: 250 * KIB, ioSize: 600 * KIB, bs: 16 * KIB },
  ])('random with the map: how often each block is hit, and the places of syncs: %j', (options) => {
    const shape = (entries: readonly Entry[]): unknown => ({
      kinds: entries.map(({ name }) => name),
      offsets: entries
        .filter(({ offset }) => offset >= 0)
        .map(({ offset }) => offset)
        .sort((a, b) => a - b),
    });
    const [mine, other] = [ours(options), theirs(options, `random-${Object.values(options).join('-')}`)];
    // The blocks of an unfinished pass are drawn; those of whole passes are all.
    const blocks = Math.floor(options.size / (options.bs ?? 4 * KIB));
    const whole = Math.floor(mine.filter(({ offset }) => offset >= 0).length / blocks) * blocks;
    const first = (entries: readonly Entry[]): Entry[] => {
      let count = 0;
      return entries.filter(({ offset }) => offset < 0 || ++count <= whole);
    };
    expect(mine.length).toBe(other.length);
    expect(shape(first(mine))).toEqual(shape(first(other)));
  });

  test('a sequential mix: reads and writes each go through the file for themselves, together as many as blocks', () => {
    const options: FileJobOptions = { rw: 'rw', size: 1024 * KIB, rwmixread: 70 };
    for (const entries of [ours(options), theirs(options, 'mix')]) {
      expect(entries.length).toBe(256);
      for (const name of ['read', 'write']) {
        const offsets = entries.filter((entry) => entry.name === name).map(({ offset }) => offset);
        expect(offsets).toEqual(offsets.map((_, i) => i * 4 * KIB));
      }
    }
  });

  test('a random mix with the map covers each block once, whichever way', () => {
    const options: FileJobOptions = { rw: 'randrw', size: 1024 * KIB };
    for (const entries of [ours(options), theirs(options, 'random-mix')]) {
      const offsets = entries.map(({ offset }) => offset).sort((a, b) => a - b);
      expect(offsets).toEqual(offsets.map((_, i) => i * 4 * KIB));
    }
  });
});
