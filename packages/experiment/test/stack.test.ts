import { describe, expect, test } from 'vitest';
import { canonicalJson, type ExperimentSpec, hashSpec, runExperiment } from '../src/index.js';
import { jobSpec, runStack, withMiniJournal } from './stack-support.js';

const MIB = 2 ** 20;
const PAGES = (4 * MIB) / 4096;

describe('jobs on a file system of the drive', () => {
  test('in memory nothing reaches the drive', async () => {
    const { metrics } = await runStack(jobSpec({ rw: 'randrw', numjobs: 2, fsync: 8 }, { fileSystem: 'memfs' }));
    expect(metrics['calls.read.requests'] + metrics['calls.write.requests']).toBe(2 * PAGES);
    expect(metrics['os.writtenBytes']).toBe(metrics['calls.write.bytes']);
    expect(metrics['host.issued']).toBe(0);
    expect(metrics['calls.sync.requests']).toBeGreaterThan(100);
  });

  test('random reads without read-ahead fetch each page that is not cached', async () => {
    const spec = jobSpec({ rw: 'randread', size: 16 * MIB, ioSize: 32 * MIB }, { readahead: 'none' });
    const { metrics } = await runStack(spec);
    const reads = (32 * MIB) / 4096;
    expect(metrics['calls.read.requests']).toBe(reads);
    expect(metrics['cache.hits'] + metrics['cache.misses']).toBe(reads);
    expect(metrics['cache.fetched']).toBe(metrics['cache.misses']);
    // The first pass finds nothing.
    expect(metrics['cache.misses']).toBeGreaterThanOrEqual(reads / 2);
    // Maps are read besides, once for an indirect block.
    expect(metrics['host.read.bytes']).toBeGreaterThanOrEqual(4096 * metrics['cache.fetched']);
    expect(metrics['host.read.bytes']).toBeLessThan(4096 * (metrics['cache.fetched'] + 32));
    expect(metrics['host.write.bytes']).toBeLessThan(MIB);
  });

  test('what fits into memory is read once, and ahead', async () => {
    const spec = jobSpec({ rw: 'read', ioSize: 12 * MIB, invalidate: true }, { memory: 32 * MIB });
    const { metrics } = await runStack(spec);
    expect(metrics['cache.fetched']).toBe(PAGES);
    // Windows of 128 KiB: a reader meets their markers and finds pages that are cached or on their way.
    expect(metrics['cache.misses']).toBeLessThan(PAGES / 8);
    expect(metrics['block.merged'] + metrics['cache.fetches']).toBeGreaterThan(PAGES / 64);
    expect(metrics['calls.read.requests']).toBe(3 * PAGES);
    expect(metrics['cache.hits']).toBeGreaterThan(2 * PAGES);
  });

  test('the final write-back counts, unless it is not asked for', async () => {
    const job = { rw: 'write' };
    const memory = 64 * MIB;
    const [synced, left] = [
      await runStack(jobSpec(job, { memory })),
      await runStack(jobSpec(job, { memory, finalSync: false })),
    ];
    expect(synced.metrics['cache.dirtyPages']).toBe(0);
    expect(synced.metrics['cache.writtenBack']).toBe(PAGES);
    expect(synced.metrics['host.write.bytes']).toBeGreaterThanOrEqual(4 * MIB);
    expect(synced.metrics['fs.commits']).toBeGreaterThanOrEqual(1);
    expect(left.metrics['cache.dirtyPages']).toBe(PAGES);
    expect(left.metrics['host.write.bytes']).toBe(0);
    // The calls are the same.
    for (const name of ['calls.elapsedNs', 'calls.write.latencyNs.mean', 'os.cpuBusyNs']) {
      expect(synced.metrics[name], name).toBe(left.metrics[name]);
    }
    expect(synced.metrics['sim.elapsedNs']).toBeGreaterThan(left.metrics['sim.elapsedNs']);
    expect(left.metrics['sim.elapsedNs']).toBe(left.metrics['calls.elapsedNs']);
  });

  test('calls of one thread take the CPU time of the table and nothing else, if nothing has to wait', async () => {
    const costs = { enter: 1000, write: 500, writePage: 250 };
    const spec = jobSpec({ rw: 'write', invalidate: false }, { fileSystem: 'memfs', memory: 64 * MIB, costs });
    const { metrics } = await runStack(spec);
    expect(metrics['calls.write.latencyNs.mean']).toBe(1750);
    expect(metrics['calls.write.bytesPerSecond']).toBeGreaterThan(2e9);
  });

  test('what the drive is asked for is what the block layer gives it, and no request is lost', async () => {
    const { metrics, histograms, series, writeFlow } = await runStack(
      jobSpec({ rw: 'randrw', size: 12 * MIB, numjobs: 2, iodepth: 4, fdatasync: 32 }, { memory: 4 * MIB }),
    );
    expect(metrics['host.issued']).toBe(metrics['block.issued']);
    expect(metrics['host.completed']).toBe(metrics['host.issued']);
    for (const kind of ['read', 'write', 'flush']) {
      expect(metrics[`host.${kind}.requests`], kind).toBe(metrics[`ssd.${kind}.requests`]);
      expect(metrics[`host.${kind}.bytes`], kind).toBe(metrics[`ssd.${kind}.bytes`]);
      expect(histograms[`host.${kind}.latencyNs`].count, kind).toBe(metrics[`host.${kind}.requests`]);
    }
    const bytes = series['host.write.bytes'].sum.reduce((sum, value) => sum + value, 0);
    expect(bytes).toBe(metrics['host.write.bytes']);
    expect(metrics['host.flush.requests']).toBe(metrics['block.flushesIssued']);
    // One commit at least for every sync that nobody shared; the data of calls goes down, and the journal besides.
    expect(metrics['fs.commits']).toBeGreaterThan(10);
    expect(metrics['host.write.bytes']).toBeGreaterThan(metrics['calls.write.bytes']);
    // Layer by layer: what calls wrote, what the file system made of it, what the drive got.
    const bytesOf = (...layers: string[]): number =>
      writeFlow.filter(({ layer }) => layers.includes(layer)).reduce((sum, part) => sum + part.bytes, 0);
    expect(bytesOf('application')).toBe(metrics['os.writtenBytes']);
    expect(bytesOf('fileSystem', 'blockLayer')).toBe(metrics['ssd.write.bytes']);
    expect(bytesOf('fileSystem')).toBe(metrics['host.write.bytes']);
    const ofJournal = writeFlow.find(({ layer, origin }) => layer === 'fileSystem' && origin === 'journal');
    // Besides the copies of blocks each commit has a descriptor and a commit block.
    expect(ofJournal?.bytes).toBeGreaterThanOrEqual(4096 * metrics['fs.logged']);
  });

  test('several jobs side by side, each with its figures', async () => {
    const spec: ExperimentSpec = {
      ...jobSpec({}),
      workload: {
        kind: 'file-jobs',
        parameters: { size: MIB },
        jobs: [
          { name: 'log', rw: 'write', bs: 16_384, fdatasync: 4 },
          { name: 'the table', rw: 'randread', numjobs: 2 },
        ],
      },
    };
    const { metrics, spec: resolved } = await runStack(spec);
    expect(metrics['jobs.log.write.requests']).toBe(64);
    expect(metrics['jobs.log.sync.requests']).toBe(15);
    expect(metrics['jobs.theTable.read.requests']).toBe(512);
    expect(metrics['calls.read.requests']).toBe(512);
    expect(resolved.workload).toMatchObject({
      jobs: [
        { size: MIB, bs: 16_384 },
        { size: MIB, bs: 4096 },
      ],
    });
  });
});

describe('a run', () => {
  const spec = jobSpec({ rw: 'randrw', size: 6 * MIB, numjobs: 2, iodepth: 2, fsync: 64 }, { memory: 4 * MIB });

  test('is the same for the same spec and seed, whoever watches, and another for another seed', async () => {
    const once = canonicalJson(await runStack(spec));
    let looks = 0;
    const watched = await runExperiment(spec, {
      extensions: withMiniJournal,
      sliceRequests: 7,
      progress: async ({ phase, requests, of }) => {
        await Promise.resolve();
        if (phase === 'run') looks++;
        expect(of).toBe(2 * 1536);
        expect(requests).toBeLessThanOrEqual(of);
      },
    });
    expect(canonicalJson(watched)).toBe(once);
    expect(looks).toBeGreaterThan(5);
    const other = await runStack({ ...spec, seed: 2 });
    expect(canonicalJson(other.metrics)).not.toBe(canonicalJson(watched.metrics));
  });

  test('that is cancelled ends with what was under way and says so', async () => {
    let looks = 0;
    const result = await runExperiment(spec, { extensions: withMiniJournal, cancelled: () => ++looks >= 3 });
    const { partial, metrics } = result;
    expect(partial).toMatchObject({ of: 2 * 1536 });
    expect(partial?.requests).toBe(metrics['calls.read.requests'] + metrics['calls.write.requests']);
    expect(partial?.requests).toBeGreaterThan(0);
    expect(partial?.requests).toBeLessThan(2 * 1536);
    expect(partial?.atNs).toBe(metrics['sim.elapsedNs']);
    expect(result.analysis.headline).toContain('Interrupted');
  });

  test('can begin on a drive that has been written, or on its image', async () => {
    let image: Uint8Array | undefined;
    const filled: ExperimentSpec = { ...spec, precondition: 'steady' };
    const options = { extensions: withMiniJournal };
    const first = await runExperiment(filled, { ...options, saveImage: (bytes) => (image = bytes) });
    const second = await runExperiment(filled, { ...options, image: image as unknown as Uint8Array });
    expect(canonicalJson(second)).toBe(canonicalJson(first));
    expect(first.preconditioned).not.toBe('none');
    expect(first.metrics['ftl.waf']).toBeGreaterThan(1);
  });

  test('with files that do not fit says so', async () => {
    const large = jobSpec({ rw: 'read', size: 256 * MIB });
    await expect(runStack(large)).rejects.toThrow(
      /the workload cannot be run: .*The drive is full: choose smaller files/,
    );
  });

  test('counts calls that failed, by their error', async () => {
    const large = jobSpec({ rw: 'write', size: 256 * MIB, fallocate: 'none' });
    const { metrics } = await runStack(large);
    expect(metrics['calls.failed']).toBe(1);
    expect(metrics['jobs.job.errors.ENOSPC']).toBe(1);
  });
});

test.each([
  ['jobs', jobSpec({ rw: 'randwrite', size: 48 * MIB, ioSize: 512 * MIB, fdatasync: 64 }, { memory: 4 * MIB })],
  // Nothing waits for the drive but the fsync behind a phase.
  ['iozone', { ...jobSpec({}), workload: { kind: 'iozone', parameters: { size: 56 * MIB, record: 65_536 } } }],
])('a drive that wears out in the middle of a run is a result, not a failure: %s', async (_, spec) => {
  const wear = { 'nand.reliability.eraseFailFrom': 0, 'nand.reliability.eraseFailTo': 1 };
  const device = { ...(spec.device as object), overrides: wear };
  const { metrics, analysis } = await runStack({ ...spec, device, precondition: 'fill' });
  expect(metrics['health.readOnly']).toBe(1);
  expect(metrics['host.failed']).toBeGreaterThan(0);
  expect(metrics['calls.failed']).toBeGreaterThan(0);
  expect(analysis.headline).toContain('requests failed');
});

test('a file system on the drive makes it keep contents, and says so if it must not', () => {
  const spec = jobSpec({});
  const keeps = (changed: ExperimentSpec): string => hashSpec(changed, null, withMiniJournal).spec.device.keeps;
  expect(keeps(spec)).toBe('contents');
  expect(keeps({ ...spec, system: { fileSystem: 'memfs' } })).toBe('nothing');
  const device = { ...(spec.device as object), overrides: { keeps: 'nothing' } };
  expect(() => keeps({ ...spec, device })).toThrow('keeps is "nothing", but mini-journal keeps its files on the drive');
});
