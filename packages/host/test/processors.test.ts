import { Simulator, type Task } from '@flashstack/sim';
import { MemFs, OpenFlag, SimplePageCache, type Thread } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { type CallCosts, DEFAULT_COSTS, Host, type HostOptions } from '../src/index.js';
import { callsOf, expectError, memoryHost } from './support.js';

function* go(call: number | Task<number>): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

const { enter, component, read, readPage, write, writePage, open, seek, attributes } = DEFAULT_COSTS;

test('a call costs what the table says', () => {
  const host = memoryHost({ cpus: 1 });
  const calls = callsOf(host, host.process().thread());
  const costOf = (call: () => unknown): number => {
    const before = host.simulator.now;
    call();
    return host.simulator.now - before;
  };
  calls.mkdir('/a', 0o755);
  const fd = calls.open('/a/f', OpenFlag.create | OpenFlag.readWrite);
  expect(costOf(() => calls.pwrite(fd, null, 4096, 0))).toBe(enter + write + writePage);
  // Two bytes on either side of a border are two pages.
  expect(costOf(() => calls.pwrite(fd, null, 2, 4095))).toBe(enter + write + 2 * writePage);
  expect(costOf(() => calls.pread(fd, null, 65_536, 0))).toBe(enter + read + 2 * readPage);
  expect(costOf(() => calls.pread(fd, null, 10, 9999))).toBe(enter + read);
  expect(costOf(() => calls.lseek(fd, 0, 0))).toBe(enter + seek);
  expect(costOf(() => calls.open('/a/f', OpenFlag.readOnly))).toBe(enter + open + 2 * component);
  // A call that fails at once pays with the next one.
  expectError('EBADF', () => calls.fstat(99, new (class {})() as never));
  expect(costOf(() => calls.lseek(fd, 0, 0))).toBe(2 * enter + seek);
  const before = host.simulator.now;
  expectError('ENOENT', () => calls.access('/a/none', 0));
  expect(host.simulator.now - before).toBe(enter + component + DEFAULT_COSTS.lookup + attributes);
});

test('costs can be changed, and are checked', () => {
  const free = Object.fromEntries(Object.keys(DEFAULT_COSTS).map((name) => [name, 0])) as unknown as CallCosts;
  const host = memoryHost({ costs: { ...free, write: 777 } });
  const calls = callsOf(host, host.process().thread());
  const fd = calls.open('/f', OpenFlag.create | OpenFlag.writeOnly);
  calls.write(fd, null, 4096);
  expect(host.simulator.now).toBe(777);
  expect(() => memoryHost({ costs: { reed: 3 } as never })).toThrow(/Did you mean "read"/);
  expect(() => memoryHost({ costs: { read: -1 } })).toThrow(/ERR_|host.costs.read is -1/);
  expect(() => memoryHost({ cpu: 3 } as HostOptions)).toThrow(/Did you mean "cpus"/);
  expect(() => memoryHost({ cpus: 0 })).toThrow(/host.cpus is 0, expected an integer from 1/);
  expect(() => memoryHost({ accessTimes: 'never' as never })).toThrow(/host.accessTimes/);
});

/** Time that `threads` threads need for a thousand cached reads each. */
function timeOf(threads: number, cpus: number, sliceNs = 3_000_000): { ns: number; busyNs: number } {
  const host = memoryHost({ cpus, sliceNs });
  const process = host.process();
  const calls = callsOf(host, process.thread());
  const fd = calls.open('/f', OpenFlag.create | OpenFlag.readWrite);
  calls.pwrite(fd, null, 4096, 0);
  function* body(thread: Thread): Task<void> {
    for (let i = 0; i < 1000; i++) yield* go(thread.pread(fd, null, 4096, 0));
  }
  const start = host.simulator.now;
  const busy = host.cpus.busyNs;
  for (let i = 0; i < threads; i++) host.simulator.spawn(`reader ${i}`, body(process.thread()), { group: host.group });
  host.simulator.run();
  return { ns: host.simulator.now - start, busyNs: host.cpus.busyNs - busy };
}

test('threads share the processors: the time is that of the work, divided', () => {
  const call = enter + read + readPage;
  for (const [threads, cpus] of [
    [1, 1],
    [1, 4],
    [4, 4],
    [16, 4],
    [3, 2],
    [8, 16],
  ]) {
    const { ns, busyNs } = timeOf(threads, cpus);
    expect(busyNs).toBe(threads * 1000 * call);
    expect(ns).toBeGreaterThanOrEqual(Math.ceil((threads / Math.min(threads, cpus)) * 1000) * call);
    expect(ns).toBeLessThanOrEqual((Math.ceil(threads / cpus) * 1000 + 1) * call);
  }
});

test('a long call gives its processor up at the end of its slice', () => {
  const host = memoryHost({ cpus: 1, sliceNs: 10_000 });
  const process = host.process();
  const calls = callsOf(host, process.thread());
  const fd = calls.open('/f', OpenFlag.create | OpenFlag.readWrite);
  calls.pwrite(fd, null, 1 << 20, 0);
  const ends: Record<string, number> = {};
  function* body(name: string, length: number): Task<void> {
    yield* go(process.thread().pread(fd, null, length, 0));
    ends[name] = host.simulator.now;
  }
  const start = host.simulator.now;
  host.simulator.spawn('long', body('long', 1 << 20), { group: host.group });
  host.simulator.spawn('short', body('short', 4096), { group: host.group });
  host.simulator.run();
  const long = enter + read + 256 * readPage;
  const short = enter + read + readPage;
  expect(ends.short - start).toBe(10_000 + short);
  expect(ends.long - start).toBe(long + short);
});

test('the same seed gives the same tags and times, another seed other tags', () => {
  const image = (seed: number): string => {
    const simulator = new Simulator();
    const cache = new SimplePageCache(simulator);
    const host = new Host({ simulator, cache, fileSystem: (environment) => new MemFs(environment) }, { seed });
    host.run(host.mount());
    const process = host.process();
    function* body(name: string): Task<void> {
      const thread = process.thread();
      const fd = yield* go(thread.open(name, OpenFlag.create | OpenFlag.readWrite));
      for (let i = 0; i < 50; i++) yield* go(thread.write(fd, null, 1000 + i * 37));
    }
    for (const name of ['a', 'b', 'c']) simulator.spawn(name, body(name), { group: host.group });
    simulator.run();
    const calls = callsOf(host, process.thread());
    const bytes = new Uint8Array(200_000);
    const all = ['a', 'b', 'c'].map((name) => {
      const length = calls.pread(calls.open(name, OpenFlag.readOnly), bytes, bytes.length, 0);
      return Buffer.from(bytes.subarray(0, length)).toString('base64');
    });
    return `${simulator.now} ${all.join(' ')}`;
  };
  expect(image(5)).toBe(image(5));
  expect(image(5).slice(-1000)).not.toBe(image(6).slice(-1000));
});
