import { parseListing, readStrace } from '@flashstack/workloads';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type ExperimentSpec, hashSpec, type RecordedCalls, runExperiment } from '../src/index.js';
import { jobSpec, runStack, withMiniJournal } from './stack-support.js';

const MIB = 2 ** 20;

/** Two threads: one writes a log and syncs it, the other reads a file that was there, and both do what is not supported. */
const TRACE = `\
7 1700000000.000000 openat(AT_FDCWD, "/mnt/b/log", O_WRONLY|O_CREAT, 0644) = 3 <0.000010>
7 1700000000.000020 write(3, ""..., 5000) = 5000 <0.000009>
7 1700000000.000030 clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 8 <0.000010>
8 1700000000.000040 openat(AT_FDCWD, "/mnt/b/old/data", O_RDONLY) = 4 <0.000010>
8 1700000000.000050 read(4, ""..., 65536) = 65536 <0.000100>
7 1700000000.000060 fsync(3 <unfinished ...>
8 1700000000.000070 splice(4, NULL, 3, NULL, 4096, 0) = 4096 <0.000100>
7 1700000000.000900 <... fsync resumed>) = 0 <0.000840>
8 1700000000.001000 copy_file_range(4, [0], 3, [5000], 8192, 0) = 8192 <0.000100>
7 1700000000.001200 rename("/mnt/b/log", "/mnt/b/log.old") = 0 <0.000100>
7 1700000000.001300 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 5 <0.000010>
7 1700000000.001400 fdatasync(3) = 0 <0.000400>
`;

async function recorded(text = TRACE): Promise<RecordedCalls> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(text);
  }
  return { calls: await readStrace(chunks(), 'app.strace'), tree: parseListing('d 0 old\nf 131072 old/data\n') };
}

function straceSpec(fileSystem: string, more: object = {}): ExperimentSpec {
  return {
    ...jobSpec({}, { fileSystem }),
    workload: { kind: 'strace', name: 'app', parameters: { root: '/mnt/b', ...more } },
  };
}

describe('a trace of system calls', () => {
  test.each(['memfs', 'mini-journal'])('does what was recorded on %s', async (fileSystem) => {
    const calls = await recorded();
    const { metrics, spec } = await runExperiment(straceSpec(fileSystem), { extensions: withMiniJournal, calls });
    expect(spec.workload).toMatchObject({ kind: 'strace', name: 'app', requests: calls.calls.calls.length });
    expect(metrics['trace.different']).toBe(0);
    expect(metrics['trace.unsupported']).toBe(1);
    expect(metrics['trace.unsupported.splice']).toBe(1);
    expect(metrics['trace.copyFileRange.bytes']).toBe(8192);
    expect(metrics['calls.read.requests']).toBe(1);
    expect(metrics['calls.read.bytes']).toBe(65_536);
    expect(metrics['calls.write.requests']).toBe(1);
    expect(metrics['calls.write.bytes']).toBe(5000);
    expect(metrics['calls.sync.requests']).toBe(2);
    expect(metrics['trace.fsync.latencyNs.max'] > 1e5).toBe(fileSystem !== 'memfs');
    // The tree of the listing was written and forgotten before: the read comes from the drive.
    expect(metrics['cache.fetched']).toBeGreaterThanOrEqual(16);
    expect(metrics['host.read.bytes']).toBe(fileSystem === 'memfs' ? 0 : 4096 * metrics['cache.fetched']);
  });

  test('makes what was not listed, and ends with a result', async () => {
    const calls = { ...(await recorded()), tree: [] };
    const { metrics } = await runExperiment(straceSpec('mini-journal'), { extensions: withMiniJournal, calls });
    expect(metrics['trace.different']).toBe(0);
    expect(metrics['trace.copyFileRange.bytes']).toBe(8192);
  });

  test('does it on time lines of the threads too', async () => {
    const calls = await recorded();
    const spec = straceSpec('mini-journal', { order: 'threads' });
    const { metrics } = await runExperiment(spec, { extensions: withMiniJournal, calls });
    expect(metrics['trace.different']).toBe(0);
    expect(metrics['calls.write.bytes']).toBe(5000);
    expect(metrics['trace.copyFileRange.bytes']).toBe(8192);
  });

  test('at its own pace takes as long as recorded', async () => {
    const { metrics } = await runExperiment(straceSpec('memfs', { pace: 'open', timeScale: 10 }), {
      extensions: withMiniJournal,
      calls: await recorded(),
    });
    expect(metrics['calls.elapsedNs']).toBeGreaterThanOrEqual(14e6);
    expect(metrics['calls.elapsedNs']).toBeLessThan(15e6);
  });

  test('is the same twice, and another if one argument or the listing differs', async () => {
    const run = async (): Promise<string> =>
      canonicalJson(
        await runExperiment(straceSpec('mini-journal'), { extensions: withMiniJournal, calls: await recorded() }),
      );
    expect(await run()).toBe(await run());
    const hash = (calls: RecordedCalls): string => hashSpec(straceSpec('memfs'), calls, withMiniJournal).specHash;
    const first = await recorded();
    const hashes = [
      first,
      await recorded(TRACE.replace('5000)', '5001)')),
      await recorded(TRACE.replace('write(3', 'write(4')),
      await recorded(TRACE.replace('0.000020', '0.000021')),
      await recorded(TRACE.replace('= 5000', '= 4999')),
      { ...first, tree: [] },
    ].map(hash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hash(await recorded())).toBe(hashes[0]);
  });

  test('needs calls, and times for a pace', async () => {
    await expect(runStack(straceSpec('memfs'))).rejects.toThrow('the environment gives no calls');
    const untimed = await recorded(TRACE.replaceAll(/ 17\d+\.\d+/g, ''));
    const run = runExperiment(straceSpec('memfs', { pace: 'think' }), { extensions: withMiniJournal, calls: untimed });
    await expect(run).rejects.toThrow('pace think needs the times of calls');
  });

  test('stops with the calls that had begun', async () => {
    let looks = 0;
    const result = await runExperiment(straceSpec('mini-journal', { pace: 'open', timeScale: 100 }), {
      extensions: withMiniJournal,
      calls: await recorded(),
      cancelled: () => ++looks >= 1,
    });
    expect(result.partial?.requests).toBeGreaterThan(0);
    expect(result.partial?.requests).toBeLessThan(result.partial?.of as number);
  });
});

describe('iozone', () => {
  const iozone = (parameters: object, memory = 8 * MIB): ExperimentSpec => ({
    ...jobSpec({}, { memory }),
    workload: { kind: 'iozone', parameters: { size: 4 * MIB, record: 16_384, ...parameters } },
  });

  test('runs its phases, whose figures are the same in all places', async () => {
    const { metrics, histograms } = await runStack(iozone({ includeFlush: true }));
    for (const phase of ['write', 'rewrite', 'read', 'reread', 'randomRead', 'randomWrite']) {
      expect(metrics[`iozone.${phase}.bytes`], phase).toBe(4 * MIB);
      const kilobytes = (4096 / metrics[`iozone.${phase}.elapsedNs`]) * 1e9;
      expect(metrics[`iozone.${phase}.kilobytesPerSecond`], phase).toBeCloseTo(kilobytes, 6);
      expect(histograms[`iozone.${phase}.latencyNs`].count, phase).toBe(256);
    }
    expect(metrics['calls.read.requests']).toBe(3 * 256);
    expect(metrics['calls.write.bytes']).toBe(12 * MIB);
    // With the flush writing is as fast as the drive, without it as the memory.
    const { metrics: cached } = await runStack(iozone({ read: false, random: false, noRetest: true }, 64 * MIB));
    expect(cached['iozone.write.kilobytesPerSecond']).toBeGreaterThan(4 * metrics['iozone.write.kilobytesPerSecond']);
    expect(cached['iozone.read.bytes']).toBeUndefined();
  });

  test('without its writes finds a file that lies on the drive', async () => {
    const { metrics } = await runStack(iozone({ write: false, random: false }));
    expect(metrics['iozone.read.bytes']).toBe(4 * MIB);
    expect(metrics['cache.fetched']).toBe((4 * MIB) / 4096);
    expect(metrics['iozone.reread.kilobytesPerSecond']).toBeGreaterThan(2 * metrics['iozone.read.kilobytesPerSecond']);
    expect(metrics['calls.write.requests']).toBe(0);
  });

  test('stops in the middle of a phase', async () => {
    const result = await runExperiment(iozone({ direct: true, includeFlush: true, sync: true }), {
      extensions: withMiniJournal,
      cancelled: () => true,
    });
    const { of, requests } = result.partial as NonNullable<typeof result.partial>;
    expect(of).toBe(6 * 256);
    expect(requests).toBeLessThan(of);
    expect(result.metrics['calls.write.requests']).toBe(requests);
  });
});

test('file systems, read-ahead and workloads on files of one’s own have names of their own', async () => {
  const extensions = {
    ...withMiniJournal,
    fileWorkloads: [
      {
        ...withMiniJournal.fileWorkloads[0],
        name: 'mine',
        summary: 'One job of a megabyte.',
        parameters: [],
        create: () => withMiniJournal.fileWorkloads[0].create({ ...jobValues, size: MIB }),
      },
    ],
    readaheads: [{ ...withMiniJournal.readaheads[2], name: 'one' }],
  };
  const spec: ExperimentSpec = { ...jobSpec({}, { readahead: 'one' }), workload: { kind: 'mine' } };
  const { metrics } = await runExperiment(spec, { extensions });
  expect(metrics['calls.read.bytes']).toBe(MIB);
  expect(metrics['cache.fetches']).toBe(MIB / 4096);
});

const jobValues = Object.fromEntries(
  withMiniJournal.fileWorkloads[0].parameters.map(({ name, default: value }) => [name, value]),
);

test.each([
  ['/', 'EISDIR'],
  ['/dir/', 'EISDIR'],
])('a path that cannot be a file is the error of the spec: %s', async (path, code) => {
  const spec = { ...jobSpec({}), workload: { kind: 'iozone', parameters: { size: 65_536, write: false, path } } };
  await expect(runStack(spec)).rejects.toMatchObject({
    code: 'ERR_SPEC_VALUE',
    message: expect.stringMatching(`cannot be run: ${code}.*Name a file`),
  });
});

test('a file where a directory should be is the error of the spec', async () => {
  const jobs = [{ name: 'a' }, { name: 'b', directory: '/a.0.0' }];
  const spec = { ...jobSpec({}), workload: { kind: 'file-jobs', parameters: { size: 65_536 }, jobs } };
  await expect(runStack(spec)).rejects.toMatchObject({
    code: 'ERR_SPEC_VALUE',
    message: expect.stringMatching('cannot be run: ENOTDIR.*choose another path'),
  });
});

test('time limits of the page cache may be as long as they can be written', async () => {
  const longest = Number.MAX_SAFE_INTEGER;
  const pageCache = { dirtyExpireNs: longest, writebackIntervalNs: longest };
  const { metrics } = await runStack(jobSpec({ rw: 'write' }, { pageCache }));
  expect(metrics['calls.write.bytes']).toBe(4 * MIB);
  expect(metrics['host.write.bytes']).toBeGreaterThan(4 * MIB);
});
