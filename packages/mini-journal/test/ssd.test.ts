import { Origin, RecordingDevice } from '@flashstack/block-device';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { OpenFlag, type Thread } from '@flashstack/vfs';
import { expect, it } from 'vitest';
import { formatMiniJournal, type MiniJournalFs } from '../src/index.js';
import { hostOn } from './support.js';

const { create, readOnly, writeOnly } = OpenFlag;
const FILES = 24;
const BYTES = 40_000;

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

function* writeFiles(thread: Thread, from: number): Task<void> {
  for (let at = from; at < FILES; at += 4) {
    const fd = yield* go(thread.open(`/f${at}`, create | writeOnly, 0o644));
    yield* go(thread.write(fd, new Uint8Array(BYTES).fill(at + 1), BYTES));
    yield* go(thread.fsync(fd));
    yield* go(thread.close(fd));
  }
}

function* readFile(thread: Thread, at: number): Task<Uint8Array> {
  const fd = yield* go(thread.open(`/f${at}`, readOnly));
  const bytes = new Uint8Array(BYTES + 1);
  const read = yield* go(thread.read(fd, bytes, bytes.length));
  yield* go(thread.close(fd));
  return bytes.subarray(0, read);
}

it('runs over a solid-state drive, and survives its power cut with everything that was made durable', () => {
  const simulator = new Simulator();
  const preset = resolvePreset('sata-840-pro-class', { capacity: 2 ** 30 });
  const drive = new Ssd(simulator, { ...preset, keeps: 'contents' });
  const recording = new RecordingDevice(drive, { simulator });
  runTask(simulator, formatMiniJournal(recording, { inodes: 4096 }));
  const host = hostOn(simulator, recording);
  host.run(host.mount());
  recording.clear();
  const begun = simulator.now;
  const running = [0, 1, 2, 3].map((at) => simulator.spawn(`writer ${at}`, writeFiles(host.process().thread(), at)));
  host.run(
    (function* () {
      for (const one of running) yield one;
    })(),
  );
  const { commits } = (host.fileSystem as MiniJournalFs).journal;
  expect(commits).toBeLessThan(FILES);
  expect(simulator.now - begun).toBeGreaterThan(FILES * 10_000);
  const blocks = new Map<number, number>();
  for (let at = 0; at < recording.length; at++) {
    const { origin, count } = recording.at(at);
    blocks.set(origin, (blocks.get(origin) ?? 0) + (count * drive.blockBytes) / 4096);
  }
  // Each file once and not a block more; every commit at least descriptor, bitmap, inodes and commit block.
  expect(blocks.get(Origin.fileData)).toBe(FILES * Math.ceil(BYTES / 4096));
  expect(blocks.get(Origin.journal)).toBeGreaterThanOrEqual(commits * 4);

  host.cutPower();
  drive.powerCut();
  simulator.runUntil(simulator.now + drive.powerOn());
  const after = hostOn(simulator, recording);
  after.run(after.mount());
  const thread = after.process().thread();
  for (let at = 0; at < FILES; at++) {
    const found = after.run(readFile(thread, at));
    expect(found.length).toBe(BYTES);
    expect(found.every((byte) => byte === at + 1)).toBe(true);
  }
});
