import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type BlockDevice, BlockFlag, BlockOp, MemoryDevice } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { FileAdvice, PAGE_BYTES } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { Linux6Readahead, Linux2637Readahead, NoReadahead, type ReadaheadPolicy } from '../src/index.js';
import { Stack } from './support.js';

const MiB = 2 ** 20;

/** Reads as a tracer prints them: letters and pages. */
function traced(policy: ReadaheadPolicy): { readonly stack: Stack; readonly reads: string[] } {
  const reads: string[] = [];
  const device = new MemoryDevice({ blockCount: 1 << 16 });
  const submit = device.submit.bind(device);
  (device as BlockDevice).submit = (request) => {
    const letters = (request.flags & BlockFlag.ahead) === 0 ? 'R' : 'RA';
    const others = request.flags & ~BlockFlag.ahead;
    if (request.op === BlockOp.read) reads.push(`${letters}${others === 0 ? '' : others} ${request.count}`);
    submit(request);
  };
  return { stack: new Stack({ cache: { policy }, device: () => device }), reads };
}

/** What Linux 6.1 queued for reads in the first step of this name, as letters and pages. */
function recorded(config: string, name: string): string[] {
  const lines = gunzipSync(readFileSync(fixtureUrl('kernel-io-blocks.txt.gz')))
    .toString('latin1')
    .split('\n');
  const from = lines.indexOf(`S ${name}`, lines.indexOf(`= ${config}`)) + 1;
  const to = lines.findIndex((line, at) => at > from && !/^[QDC] /.test(line));
  const queued = lines.slice(from, to).map((line) => line.split(' '));
  return queued
    .filter(([mark, rwbs]) => mark === 'Q' && rwbs.startsWith('R'))
    .map(([, rwbs, , n]) => `${rwbs} ${+n / 8}`);
}

test.each([
  ['ext4-ordered', 'read-seq-4k/read', 4096, MiB],
  ['ext4-ordered', 'read-seq-16k/read', 16_384, 2 * MiB],
])('%s, %s: requests are marked as those of Linux', (config, step, length, size) => {
  const { stack, reads } = traced(new Linux6Readahead());
  const inode = stack.file(size);
  const reader = stack.cache.reader(inode);
  for (let at = 0; at < size; at += length) stack.finish(stack.cache.read(inode, reader, at, length, null));
  expect(recorded(config, step).length).toBeGreaterThan(5);
  expect(reads).toEqual(recorded(config, step));
});

test('a page that a random read misses is asked for by read-ahead too, with Linux 6', () => {
  const { stack, reads } = traced(new Linux6Readahead());
  const inode = stack.file(MiB);
  stack.read(inode, 100 * PAGE_BYTES, PAGE_BYTES);
  expect(reads).toEqual(recorded('ext4-ordered', 'read-random-4k/read-1'));
});

test('what a write or a read without read-ahead needs is not marked, nor is anything with 2.6.37', () => {
  const six = traced(new Linux6Readahead());
  const file = six.stack.file(MiB);
  six.stack.write(file, 5 * PAGE_BYTES + 100, 200);
  const none = traced(new NoReadahead());
  none.stack.read(none.stack.file(MiB), 0, 2 * PAGE_BYTES);
  const old = traced(new Linux2637Readahead());
  old.stack.read(old.stack.file(MiB), 0, PAGE_BYTES);
  expect([six.reads, none.reads, old.reads]).toEqual([['R 1'], ['R 1', 'R 1'], ['R 4']]);
});

test('advice to read is read-ahead', () => {
  const { stack, reads } = traced(new Linux6Readahead());
  const inode = stack.file(MiB);
  const advised = stack.cache.advise(inode, stack.cache.reader(inode), 0, 8 * PAGE_BYTES, FileAdvice.willNeed);
  stack.finish(advised);
  expect(reads).toEqual(['RA 8']);
});
