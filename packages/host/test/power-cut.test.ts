import { type BlockDevice, MemoryDevice } from '@flashstack/block-device';
import { RandomSource, Simulator, type Task } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { OpenFlag, SimplePageCache, type Thread } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { BlockLayer, Host } from '../src/index.js';
import { SlabFs } from './slab-fs.js';
import { callsOf, expectError } from './support.js';

const FILES = 8;
const FILE_BYTES = 64 * 4096;

function hostOn(simulator: Simulator, device: BlockDevice): Host {
  const layer = new BlockLayer(simulator, device);
  const cache = new SimplePageCache(simulator, layer);
  const host = new Host(
    { simulator, cache, fileSystem: (environment) => new SlabFs(environment, layer, FILES, FILE_BYTES) },
    { cpus: 2 },
  );
  host.run(host.mount());
  return host;
}

function* go(call: number | Task<number>): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

/** Writes numbered pages of one file and syncs now and then; says what has been synced. */
function* writer(thread: Thread, name: string, seed: number, synced: Uint32Array, written: Uint32Array): Task<void> {
  const random = new RandomSource(seed).stream(name);
  const fd = yield* go(thread.open(`/${name}`, OpenFlag.readWrite));
  const page = new Uint8Array(4096);
  const words = new Uint32Array(page.buffer);
  for (let version = 1; ; version++) {
    const at = random.below(64);
    words.fill(version);
    written[at] = version;
    yield* go(thread.pwrite(fd, page, 4096, at * 4096));
    if (random.below(4) > 0) continue;
    const before = written.slice();
    yield* go(thread.fsync(fd));
    synced.set(before);
  }
}

test('after a power cut of the whole stack a new host finds all that was synced, and nothing that was never written', () => {
  for (let seed = 1; seed <= 2; seed++) {
    const simulator = new Simulator();
    const drive = new Ssd(simulator, {
      ...resolvePreset('sata-840-pro-class', { capacity: 2 ** 30 }),
      keeps: 'contents',
    });
    const synced = Array.from({ length: FILES }, () => new Uint32Array(64));
    const written = Array.from({ length: FILES }, () => new Uint32Array(64));
    const host = hostOn(simulator, drive);
    for (let at = 0; at < FILES; at++) {
      const thread = host.process().thread();
      const body = writer(thread, String(at), seed, synced[at], written[at]);
      simulator.spawn(`writer ${at}`, body, { group: host.group, daemon: true });
    }
    simulator.runUntil(simulator.now + seed * 7_000_001);
    host.cutPower();
    drive.powerCut();
    drive.powerOn();
    const after = hostOn(simulator, drive);
    const calls = callsOf(after, after.process().thread());
    let durable = 0;
    for (let file = 0; file < FILES; file++) {
      const fd = calls.open(`/${file}`, OpenFlag.readOnly);
      const page = new Uint8Array(4096);
      for (let at = 0; at < 64; at++) {
        calls.pread(fd, page, 4096, at * 4096);
        const words = new Uint32Array(page.buffer);
        const [version] = words;
        expect(words.every((word) => word === version)).toBe(true);
        expect(version).toBeGreaterThanOrEqual(synced[file][at]);
        expect(version).toBeLessThanOrEqual(written[file][at]);
        if (synced[file][at] > 0) durable++;
      }
    }
    expect(durable).toBeGreaterThan(20);
  }
});

test('nothing of a host without power runs again, and a second one goes on in the same simulator', () => {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockCount: 4096 });
  const host = hostOn(simulator, device);
  let calls = 0;
  function* body(): Task<void> {
    const thread = host.process().thread();
    try {
      const fd = yield* go(thread.open('/0', OpenFlag.writeOnly));
      for (;;) {
        yield* go(thread.pwrite(fd, null, 4096, 0));
        calls++;
      }
    } finally {
      calls = -1;
    }
  }
  simulator.spawn('program', body(), { group: host.group });
  simulator.runUntil(1_000_000);
  const before = calls;
  expect(before).toBeGreaterThan(100);
  host.cutPower();
  expect(host.state).toBe('off');
  const after = hostOn(simulator, device);
  const other = callsOf(after, after.process().thread());
  const fd = other.open('/0', OpenFlag.readWrite | OpenFlag.dataSync);
  other.pwrite(fd, null, 4096, 0);
  expect(calls).toBe(before);
  expect(simulator.processes.abandoned).toBe(1);
});

test('direct I/O goes past the cache, in multiples of what the file system asks for, and agrees with it', () => {
  const simulator = new Simulator();
  const host = hostOn(simulator, new MemoryDevice({ blockCount: 4096 }));
  const calls = callsOf(host, host.process().thread());
  const direct = calls.open('/1', OpenFlag.readWrite | OpenFlag.direct);
  const cached = calls.open('/1', OpenFlag.readWrite);
  const page = new Uint8Array(8192).fill(5);
  expect(calls.pwrite(direct, page, 8192, 4096)).toBe(8192);
  const back = new Uint8Array(8192);
  expect(calls.pread(cached, back, 8192, 4096)).toBe(8192);
  expect(back).toEqual(page);
  page.fill(6, 0, 100);
  calls.pwrite(cached, page, 100, 4096);
  calls.pread(direct, back, 4096, 4096);
  expect(back.subarray(0, 101)).toEqual(new Uint8Array(101).fill(6, 0, 100).fill(5, 100));
  calls.pwrite(direct, null, 4096, 8192);
  calls.pread(cached, back, 4096, 8192);
  expect(back.subarray(0, 4096).some((byte) => byte !== 5)).toBe(true);
  expectError('EINVAL', () => calls.pread(direct, back, 100, 0));
  expectError('EINVAL', () => calls.pwrite(direct, page, 4096, 512));
  expect(calls.pread(direct, back, 8192, FILE_BYTES - 4096)).toBe(4096);
});
