import type { BlockDevice } from '@flashstack/block-device';
import { BlockLayer, Host } from '@flashstack/host';
import { formatMiniJournal, MiniJournalFs } from '@flashstack/mini-journal';
import { Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { RandomSource, runTask, Simulator, type Task } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { OpenFlag, type UserProcess } from '@flashstack/vfs';
import { BlockRecorder, type BlockRecorderStats, type BlockRecordingFormat } from '@flashstack/workloads';

const PAGE = 4096;
const FILE_PAGES = 2048;

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

/** Sequential and random writes and reads of a file of its own, some synced. */
function* program(process: UserProcess, number: number): Task<void> {
  const thread = process.thread();
  const random = new RandomSource(number).stream('program');
  const { create, readWrite } = OpenFlag;
  const fd = yield* go(thread.open(`/file${number}`, create | readWrite, 0o644));
  for (let page = 0; page < FILE_PAGES; page += 8) yield* go(thread.pwrite(fd, null, 8 * PAGE, page * PAGE));
  for (let at = 0; at < 200; at++) {
    const page = random.below(FILE_PAGES);
    yield* go(
      random.below(3) > 0 ? thread.pread(fd, null, PAGE, page * PAGE) : thread.pwrite(fd, null, PAGE, page * PAGE),
    );
    if (random.below(10) === 0) yield* go(thread.fsync(fd));
  }
  for (let page = 0; page < FILE_PAGES; page += 4) yield* go(thread.pread(fd, null, 4 * PAGE, page * PAGE));
  yield* go(thread.close(fd));
  yield* go(process.exit());
}

/** A recording of a run, and what is known of the run without it. */
export interface RecordedStack {
  readonly bytes: Uint8Array;
  readonly stats: BlockRecorderStats;
  readonly layer: BlockLayer;
  readonly device: BlockDevice;
}

/**
 * Three programs on a file system behind a page cache, the block layer and a drive; recorded from the mount on. Requests
 * longer than `maxRequestBytes` are cut.
 */
export function recordStack(format: BlockRecordingFormat, maxRequestBytes: number): RecordedStack {
  const simulator = new Simulator();
  const preset = resolvePreset('sata-840-pro-class', { capacity: 2 ** 30 });
  const device = new Ssd(simulator, { ...preset, keeps: 'contents' });
  const layer = new BlockLayer(simulator, device, { scheduler: 'deadline', queueDepth: 32, maxRequestBytes });
  runTask(simulator, formatMiniJournal(layer, { inodes: 1024 }));
  const before = { ...layer.stats };
  const pieces: Uint8Array[] = [];
  const recorder = new BlockRecorder(simulator, layer.blockBytes, { format, write: (piece) => pieces.push(piece) });
  layer.probe = recorder;
  const memory = new PageMemory(simulator, { memoryBytes: 16 * 2 ** 20 });
  const cache = new LinuxPageCache(memory, layer, {
    policy: new Linux6Readahead(),
    limits: { raPages: 32, ioPages: 320 },
  });
  const host = new Host({ simulator, cache, fileSystem: (environment) => new MiniJournalFs(layer, environment) });
  host.run(host.mount(), 'mount');
  for (let at = 0; at < 3; at++) {
    simulator.spawn(`program ${at}`, program(host.process(), at), { group: host.group });
  }
  simulator.run();
  host.run(host.unmount(), 'unmount');
  layer.probe = null;
  recorder.end();
  const { queued, merged, splits, issued } = layer.stats;
  const since = { queued: before.queued, merged: before.merged, splits: before.splits, issued: before.issued };
  if (queued - since.queued !== recorder.stats.queued) throw new Error('the recorder has missed requests');
  if (merged - since.merged !== recorder.stats.merged) throw new Error('the recorder has missed merges');
  if (splits - since.splits !== recorder.stats.splits) throw new Error('the recorder has missed cuts');
  if (issued - since.issued !== recorder.stats.issued)
    throw new Error('the recorder has missed requests of the device');
  return { bytes: Buffer.concat(pieces), stats: recorder.stats, layer, device };
}
