import { describe, expect, test } from 'vitest';
import { EXITED, type StraceOptions, StraceReader, type SystemTrace, TraceError } from '../src/index.js';
import { openStrace } from '../src/node/index.js';
import { straceSamples } from './strace-samples.js';

function read(text: string, options: StraceOptions = {}, chunkBytes = text.length): SystemTrace {
  const reader = new StraceReader('a.strace', options);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  for (let at = 0; at < bytes.length; at += chunkBytes) reader.push(bytes.subarray(at, at + chunkBytes));
  return reader.end();
}

function errorOf(text: string, options: StraceOptions = {}): TraceError {
  try {
    read(text, options);
  } catch (error) {
    expect(error).toBeInstanceOf(TraceError);
    return error as TraceError;
  }
  return expect.fail('no error');
}

describe('recorded traces', () => {
  test.each(straceSamples().map((sample) => [sample.name, sample] as const))('%s', async (_, { strace, counts }) => {
    const trace = await openStrace(strace);
    const calls: Record<string, number> = {};
    const failed: Record<string, number> = {};
    for (const { name, error, result } of trace.calls) {
      if (name === EXITED) continue;
      calls[name] = (calls[name] ?? 0) + 1;
      // A call that a signal interrupted and that starts anew (result "?") has not failed.
      if (error !== '' && !Number.isNaN(result)) failed[name] = (failed[name] ?? 0) + 1;
    }
    expect(trace.unfinished).toBe(0);
    expect(calls).toEqual(counts.calls);
    expect(failed).toEqual(counts.failed);
    expect(trace.threads).toBe(counts.processes);
    const joined = trace.order.length / 2;
    expect(joined).toBe(trace.calls.length);
    expect(counts.lines).toBe(trace.calls.length + trace.notes + counts.resumed_merged);
    expect(trace.timed).toBe(true);
  });
});

const epoch = '496   1796032223.277374 openat(AT_FDCWD, "/mnt/a\\303\\244\\"\\n", O_RDONLY) = 3 <0.000133>\n';

test.each([
  ['pid, epoch, duration', epoch, 496, 133_000],
  ['epoch only', '1796032223.277374 openat(AT_FDCWD, "/mnt/a\\303\\244\\"\\n", O_RDONLY) = 3\n', 0, 0],
  ['terminal', '[pid   496] 10:11:12.277374 openat(AT_FDCWD, "/mnt/a\\303\\244\\"\\n", O_RDONLY) = 3 <0.1>\n', 496, 0],
  ['clock', '496   10:11:12 openat(AT_FDCWD, "/mnt/a\\303\\244\\"\\n", O_RDONLY) = 3 <0.000133>\n', 496, 133_000],
  ['pid only', '496   openat(AT_FDCWD, "/mnt/a\\303\\244\\"\\n", O_RDONLY) = 3 <0.000133>\n', 496, 133_000],
  ['nothing but calls', 'openat(AT_FDCWD, "/mnt/a\\303\\244\\"\\n", O_RDONLY)     = 3\n', 0, 0],
  ['-y', '496   openat(AT_FDCWD</mnt>, "/mnt/a\\303\\244\\"\\n", O_RDONLY) = 3</mnt/a> <0.000133>\n', 496, 133_000],
])('form of a line: %s', (_, text, pid, durationNs) => {
  const [call] = read(text).calls;
  expect(call).toMatchObject({ line: 1, pid, name: 'openat', result: 3, error: '' });
  expect(call.arguments).toHaveLength(3);
  expect(call.arguments[1]).toBe('"/mnt/a\\303\\244\\"\\n"');
  expect(call.endNs - call.startNs).toBe(durationNs);
});

test('arguments end at the parenthesis that closes them, whatever is quoted or bracketed before', () => {
  const text =
    'read(3</a(b>, "x) = 1"..., 10) = 6\n' +
    'clone3({flags=CLONE_VM|CLONE_FS, stack=0x7f, tls=0} => {parent_tid=[0]}, 88) = 77\n' +
    'poll([{fd=4, events=POLLIN}], 1, 0) = 1 ([{fd=4, revents=POLLIN}])\n' +
    'fcntl(5, F_GETFL) = 0x8000 (flags O_RDONLY|O_LARGEFILE)\n' +
    'unlink("a") = -1 ENOENT (No such file or directory)\n' +
    'exit_group(0) = ?\n';
  const { calls } = read(text);
  expect(calls.map((call) => call.arguments.length)).toEqual([3, 2, 3, 2, 1, 1]);
  expect(calls[0].arguments).toEqual(['3</a(b>', '"x) = 1"...', '10']);
  expect(calls.map((call) => call.result)).toEqual([6, 77, 1, 0x8000, -1, Number.NaN]);
  expect(calls[4].error).toBe('ENOENT');
});

const interleaved =
  '10 5000000000.000001 openat(AT_FDCWD, "/a", O_RDONLY <unfinished ...>\n' +
  '11 5000000000.000002 close(3) = 0 <0.000001>\n' +
  '10 5000000000.000009 <... openat resumed>) = 3 <0.000008>\n' +
  '11 5000000000.000010 write(1, ""..., 5 <unfinished ...>) = ?\n' +
  '11 5000000000.000011 +++ exited with 0 +++\n';

test.each([1, 7, 1000])('interrupted calls are joined, in pieces of %d bytes', (chunkBytes) => {
  const trace = read(interleaved.replace(' <unfinished ...>) = ?', ' <unfinished ...>'), {}, chunkBytes);
  expect(trace.calls.map((call) => [call.pid, call.name, call.startNs, call.endNs])).toEqual([
    [11, 'close', 2000, 3000],
    [10, 'openat', 1000, 9000],
    [11, EXITED, 11_000, 11_000],
  ]);
  // Call 1 begins, call 0 begins and ends, call 1 ends.
  expect([...trace.order]).toEqual([2, 0, 1, 3, 4, 5]);
  expect(trace.unfinished).toBe(1);
});

test('clock times go on over midnight', () => {
  const { calls } = read('23:59:59.500000 close(1) = 0\n00:00:00.250000 close(2) = 0\n');
  expect(calls[1].startNs - calls[0].startNs).toBe(750_000_000);
});

describe('bad input', () => {
  test.each([
    ['a block trace', '128166372003061629,web,0,Read,7014608896,4096,41286\n', /format msr: read it with readTrace/],
    ['a summary', '% time     seconds  usecs/call     calls\n', /strace -c/],
    ['something else', 'hello\nworld\n', /strace -f -ttt -T/],
  ])('%s', (_, text, hint) => {
    const error = errorOf(text);
    expect(error.code).toBe('ERR_TRACE_FORMAT');
    expect(error.message).toMatch(/^a\.strace: /);
    expect(error.hints.join(' ')).toMatch(hint);
  });

  test('a file that was cut says so, with its line', () => {
    const error = errorOf(`${epoch}496   1796032223.277375 openat(AT_FDC`);
    expect(error.code).toBe('ERR_TRACE_LINE');
    expect(error.message).toBe('a.strace:2:1: the file ends in the middle of a line: it was cut');
  });

  test('a line in the middle that is none, and one that is skipped', () => {
    const text = `${epoch}rubbish\n${epoch}`;
    expect(errorOf(text).message).toBe('a.strace:2:1: no system call');
    const trace = read(text, { badLines: 'skip' });
    expect([trace.calls.length, trace.badLines, trace.firstBadLine]).toEqual([2, 1, 'a.strace:2:1: no system call']);
  });

  test('relative times, a resumption without beginning, an empty file, a wrong option', () => {
    expect(errorOf('     0.000123 close(3) = 0\n').message).toMatch(/-r/);
    const resumed = errorOf(`${epoch}496 1796032223.277376 <... read resumed>) = 3\n`);
    expect(resumed.message).toMatch(/a\.strace:2:1: read of thread 496 goes on, but no call of it was interrupted/);
    expect(errorOf('').code).toBe('ERR_TRACE_EMPTY');
    expect(errorOf(epoch, { badLines: 'no' as 'skip' }).code).toBe('ERR_TRACE_OPTION');
  });
});
