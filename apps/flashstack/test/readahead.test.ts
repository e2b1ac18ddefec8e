import { fileURLToPath } from 'node:url';
import { fixtureUrl } from '@flashstack/fixtures';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { FakeHost } from './fake-host.js';

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };

async function cli(args: string): Promise<{ code: number; out: string; err: string }> {
  const host = new FakeHost({ env: { LANG: 'C.UTF-8' } });
  const code = await runCli(['readahead-sim', ...args.split(' ').filter((word) => word !== '')], host, settings);
  return { code, out: host.out, err: host.err.replaceAll('\n   ', ' ') };
}

interface Result {
  readonly reads: readonly { offset: number; pages: number; hits: number; fetched: readonly [number, number][] }[];
  readonly totals: { pages: number; hits: number; fetched: number; requests: number; unread: number };
  readonly beyond: { cut: number; empty: number };
}

const json = async (args: string): Promise<Result> => JSON.parse((await cli(`${args} --json`)).out) as Result;

describe('readahead-sim', () => {
  test('every other page, with the windows of each policy', async () => {
    const fetched = async (policy: string): Promise<unknown> => {
      const { reads } = await json(`--policy ${policy} --reads 0:4KiBx8+8KiB`);
      return reads.flatMap((read) => read.fetched);
    };
    expect(await fetched('linux-2.6.37')).toEqual([
      [0, 4],
      [4, 24],
      [28, 32],
    ]);
    expect(await fetched('linux-6')).toEqual([
      [0, 4],
      [4, 4],
      [8, 4],
      [12, 4],
    ]);
    expect(await fetched('none')).toEqual([0, 2, 4, 6, 8, 10, 12, 14].map((page) => [page, 1]));
  });

  test('a policy of a module', async () => {
    const module = `--module ${fileURLToPath(new URL('../../../docs/examples/eight-pages.ts', import.meta.url))}`;
    const own = `${module} --policy eight-pages`;
    const { reads } = await json(`${own} --reads 0:4KiBx12`);
    expect(reads.flatMap((read) => read.fetched)).toEqual([
      [0, 8],
      [8, 8],
    ]);
    expect((await cli(`${own} --set window=8 --reads 0:4KiB`)).err).toContain('eight-pages');
    expect((await cli(`--policy eight-page ${module} --reads 0:4KiB`)).err).toContain('eight-pages');
  });

  test('sequential reads of a file: pages after k requests', async () => {
    for (const [count, pages] of [
      [8, 28],
      [16, 60],
      [64, 124],
      [1024, 1084],
      [1280, 1280],
    ]) {
      const { totals } = await json(`--reads 0:4KiBx${count}`);
      expect(totals.fetched).toBe(pages);
      expect(totals.unread).toBe(pages - count);
    }
  });

  test('hits are pages that were there before the read', async () => {
    const { reads, totals } = await json('--file-size 10000 --reads 0:100,0:100,0:1MiB');
    expect(reads.map(({ pages, hits }) => [pages, hits])).toEqual([
      [1, 0],
      [1, 1],
      [3, 3],
    ]);
    expect(totals).toEqual({ pages: 5, hits: 4, fetched: 3, requests: 1, unread: 0 });
  });

  test('reads beyond the end are cut as by Linux, and the output says so', async () => {
    const args = '--file-size 10000 --reads 0:4KiB,8KiB:4KiB,10000:1,1MiB:4KiBx2';
    const { reads, totals, beyond } = await json(args);
    expect(reads.map(({ pages }) => pages)).toEqual([1, 1, 0, 0, 0]);
    expect([totals.pages, totals.fetched]).toEqual([2, 3]);
    expect(beyond).toEqual({ cut: 1, empty: 3 });
    expect((await cli(args)).out.replaceAll('\n', ' ').replace(/\p{Zs}/gu, ' ')).toContain(
      'The file ends at byte 10 000: 1 read cut there, 3 reads behind it that found nothing',
    );
    expect((await json('--reads 0:5MiB')).beyond).toEqual({ cut: 0, empty: 0 });
    expect((await cli('--reads 0:5MiB')).out).not.toContain('The file ends');
  });

  test('with little memory pages are fetched again', async () => {
    const twice = '--file-size 8MiB --reads 0:64KiBx128 --reads 0:64KiBx128';
    expect((await json(twice)).totals.fetched).toBe(2048);
    expect((await json(`${twice} --memory 2MiB`)).totals.fetched).toBe(4096);
  });

  test('random reads follow the seed', async () => {
    const offsets = async (seed: number): Promise<number[]> =>
      (await json(`--reads random:4KiBx20 --seed ${seed}`)).reads.map(({ offset }) => offset);
    expect(await offsets(1)).toEqual(await offsets(1));
    expect(await offsets(1)).not.toEqual(await offsets(2));
    expect((await offsets(3)).every((offset) => offset % 4096 === 0 && offset < 5 * 2 ** 20)).toBe(true);
  });

  test.each([
    ['--policy linux6 --reads 0:4KiB', 'Did you mean "linux-6"?'],
    ['--policy linux-6.18 --reads 0:4KiB', 'Did you mean "linux-6"?'],
    ['--reads 5MiB:4KiBx9', '--reads has nothing inside the file, which has 5242880 bytes. Give smaller offsets'],
    ['--reads 0:4KiB --memory 1MiB', '--memory is "1MiB", expected at least 2MiB'],
    ['--reads 4KiB', '--reads has "4KiB": it is not of that form. Expected OFFSET:LENGTH'],
    ['--reads 0:4KiBxmany', '"many" is no count'],
    ['--reads 0:0', '"0" is no length'],
    ['--reads 0:big', '"big" is no size such as 4KiB'],
    ['--reads random:4KiBx3+8KiB', 'random reads have no stride'],
    ['--reads random:8MiB', 'less than one read of 8388608'],
    ['--reads 0:4KiB --file-size -1', '--file-size is "-1"'],
    ['--reads 0:4KiB --file-size 17TiB', '--file-size is "17TiB", expected at most 1TiB'],
    ['--reads 0:4KiB --advice randm', 'unknown --advice "randm". Did you mean "random"?'],
    ['--reads 0:4KiB --seed x', '--seed is "x", expected a whole number'],
    ['', "required option '--reads <list>' not specified"],
  ])('%s: exit code 2 and what to do', async (args, text) => {
    const { code, out, err } = await cli(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err.replaceAll('\n', ' ')).toContain(text);
  });
});
