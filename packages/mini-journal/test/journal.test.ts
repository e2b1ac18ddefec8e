import { BlockOp, FaultDevice, MemoryDevice, Origin, RecordingDevice, submitAndWait } from '@flashstack/block-device';
import { Delay, runTask, Simulator, type Task } from '@flashstack/sim';
import { FileStatus, OpenFlag, type Thread } from '@flashstack/vfs';
import { describe, expect, it } from 'vitest';
import { formatMiniJournal, type MiniJournalFs } from '../src/index.js';
import { formatted, hostOn } from './support.js';

const { append, create, writeOnly } = OpenFlag;
const MIB = 2 ** 20;

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

function journalOf(host: ReturnType<typeof hostOn>) {
  return (host.fileSystem as MiniJournalFs).journal;
}

/** A mounted host on a device with 100 µs a request. */
function slowHost(bytes = 16 * MIB, commitIntervalNs = 5_000_000_000) {
  const simulator = new Simulator();
  const device = formatted(simulator, bytes);
  const host = hostOn(simulator, new FaultDevice(device, { simulator, latencyNs: 100_000, rules: [] }), {
    commitIntervalNs,
  });
  host.run(host.mount());
  return { simulator, device, host };
}

/** Appends to a file of its own and makes it durable, again and again. */
function* appendAndSync(thread: Thread, name: string, rounds: number): Task<void> {
  const fd = yield* go(thread.open(name, create | append | writeOnly, 0o644));
  for (let round = 0; round < rounds; round++) {
    yield* go(thread.write(fd, new Uint8Array(500).fill(round + 1), 500));
    yield* go(thread.fsync(fd));
  }
  yield* go(thread.close(fd));
}

function* exists(thread: Thread, path: string): Task<boolean> {
  try {
    yield* go(thread.stat(path, new FileStatus()));
    return true;
  } catch {
    return false;
  }
}

describe('group commit', () => {
  const commitsOf = (threads: number, rounds: number) => {
    const { simulator, host } = slowHost();
    const process = host.process();
    const running = Array.from({ length: threads }, (_, at) =>
      simulator.spawn(`writer ${at}`, appendAndSync(process.thread(), `/f${at}`, rounds)),
    );
    host.run(
      (function* () {
        for (const one of running) yield one;
      })(),
    );
    return journalOf(host).commits;
  };

  it('gives every fsync of a lone program a commit of its own', () => {
    expect(commitsOf(1, 20)).toBe(20);
  });

  it('lets one commit serve the fsyncs of many programs', () => {
    const commits = commitsOf(16, 20);
    // Those that arrive while one commit is written share the next: two commits for each round of all, at most.
    expect(commits).toBeGreaterThanOrEqual(20);
    expect(commits).toBeLessThanOrEqual(2 * 20 + 2);
  });

  it('is done when each fsync returns: what it covered is there after a power cut', () => {
    for (const cutAfterNs of [1_000_000, 2_500_000, 7_777_777]) {
      const { simulator, device, host } = slowHost();
      const process = host.process();
      const synced = new Array<number>(8).fill(0);
      for (let at = 0; at < 8; at++) {
        simulator.spawn(`writer ${at}`, counted(process.thread(), `/f${at}`, at, synced), { group: host.group });
      }
      simulator.runUntil(simulator.now + cutAfterNs);
      host.cutPower();
      const promised = [...synced];
      const after = hostOn(simulator, device);
      after.run(after.mount());
      const thread = after.process().thread();
      expect(promised.reduce((a, b) => a + b)).toBeGreaterThan(0);
      for (const [at, count] of promised.entries()) {
        const status = new FileStatus();
        if (count > 0) after.run(go(thread.stat(`/f${at}`, status)));
        expect(status.size).toBeGreaterThanOrEqual(count * 500);
      }
    }
  });
});

function* counted(thread: Thread, name: string, at: number, synced: number[]): Task<void> {
  const fd = yield* go(thread.open(name, create | append | writeOnly, 0o644));
  for (;;) {
    yield* go(thread.write(fd, new Uint8Array(500).fill(7), 500));
    yield* go(thread.fsync(fd));
    synced[at]++;
  }
}

describe('background commits', () => {
  it('make names durable once an interval, without anybody asking', () => {
    for (const [waitNs, there] of [
      [900_000_000, false],
      [1_100_000_000, true],
    ] as const) {
      const { simulator, device, host } = slowHost(16 * MIB, 1_000_000_000);
      const thread = host.process().thread();
      host.run(
        (function* () {
          yield* go(thread.mkdir('/d', 0o755));
          yield new Delay(simulator).for(waitNs);
        })(),
      );
      host.cutPower();
      const after = hostOn(simulator, device);
      after.run(after.mount());
      expect(after.run(exists(after.process().thread(), '/d'))).toBe(there);
      expect(journalOf(after).recovered).toBe(there ? 1 : 0);
    }
  });

  it('cost nothing while nothing changes', () => {
    const { simulator, host } = slowHost(16 * MIB, 1_000_000);
    host.run(
      (function* () {
        yield new Delay(simulator).for(1_000_000_000);
      })(),
    );
    expect(journalOf(host).commits).toBe(0);
    host.run(host.unmount());
  });
});

describe('the journal', () => {
  it('is emptied as it fills up, any number of times, and recovery goes on from there', () => {
    const { simulator, device, host } = slowHost(2 * MIB);
    const thread = host.process().thread();
    host.run(
      (function* () {
        for (let at = 0; at < 300; at++) {
          yield* go(thread.mkdir(`/d${at % 100}-${at}`, 0o755));
          if (at >= 100) yield* go(thread.rmdir(`/d${at % 100}-${at - 100}`));
          yield* go(thread.sync());
        }
      })(),
    );
    const { commits, checkpoints, logged } = journalOf(host);
    expect(commits).toBe(300);
    expect(checkpoints).toBeGreaterThan(3);
    // Descriptor, commit block, and at least a directory, the bitmap and an inode block each.
    expect(logged).toBeGreaterThanOrEqual(300 * 4);
    host.cutPower();
    const messages: string[] = [];
    const after = hostOn(simulator, device, {}, (message) => messages.push(message));
    after.run(after.mount());
    const { recovered } = journalOf(after);
    expect(messages).toEqual([`recovered ${recovered} transactions`]);
    expect(recovered).toBeGreaterThan(0);
    const inspector = after.process().thread();
    for (let at = 0; at < 300; at++) {
      expect(after.run(exists(inspector, `/d${at % 100}-${at}`)), `directory ${at}`).toBe(at >= 200);
    }
    after.run(inspector.process.exit());
    after.run(after.unmount());
    const again = hostOn(simulator, device);
    again.run(again.mount());
    expect(journalOf(again).recovered).toBe(0);
  });

  it('is not mixed up with one that was in its place before', () => {
    const simulator = new Simulator();
    const device = formatted(simulator, 2 * MIB);
    const host = hostOn(simulator, device);
    host.run(host.mount());
    const thread = host.process().thread();
    host.run(appendAndSync(thread, '/old', 30));
    host.cutPower();
    runTask(simulator, formatMiniJournal(device));
    const after = hostOn(simulator, device);
    after.run(after.mount());
    expect(after.run(exists(after.process().thread(), '/old'))).toBe(false);
    expect(journalOf(after).recovered).toBe(0);
  });

  it('has data on the device before the commit that leads to them', () => {
    const simulator = new Simulator();
    const recording = new RecordingDevice(formatted(simulator, 4 * MIB));
    const host = hostOn(simulator, recording);
    host.run(host.mount());
    recording.clear();
    const thread = host.process().thread();
    host.run(appendAndSync(thread, '/f', 1));
    const rows = Array.from({ length: recording.length }, (_, at) => recording.at(at));
    const data = rows.filter((row) => row.origin === Origin.fileData);
    const commit = rows.findIndex((row) => row.origin === Origin.journal && row.flags !== 0);
    expect(data).toHaveLength(1);
    expect(data[0].doneOrder).toBeLessThan(rows[commit].issueOrder);
  });
});

describe('volumes that cannot be mounted', () => {
  const mountError = (device: MemoryDevice): string => {
    const host = hostOn(new Simulator(), device);
    try {
      host.run(host.mount());
    } catch (error) {
      return (error as Error).message;
    }
    return 'mounted';
  };

  it('are refused with what is wrong', () => {
    const simulator = new Simulator();
    expect(mountError(new MemoryDevice({ blockCount: 512 }))).toMatch(/EINVAL.*no mini-journal/);
    const device = formatted(simulator, 2 * MIB);
    const damage = (block: number) => {
      const copy = formatted(simulator, 2 * MIB);
      submitAndWait(simulator, copy, { op: BlockOp.write, block, count: 1, data: new Uint8Array(4096).fill(0x11) });
      return copy;
    };
    expect(mountError(device)).toBe('mounted');
    expect(mountError(damage(1))).toMatch(/EUCLEAN.*journal/);
    expect(mountError(damage(0))).toMatch(/EINVAL/);
  });

  it('and bad options are named', () => {
    const simulator = new Simulator();
    const device = new MemoryDevice({ blockCount: 512 });
    const format = (options: object) => () => runTask(simulator, formatMiniJournal(device, options));
    expect(format({ journalBlock: 200 })).toThrow(/Did you mean "journalBlocks"/);
    expect(format({ journalBlocks: 3 })).toThrow(/journalBlocks is 3, expected an integer of at least \d+/);
    expect(() => runTask(simulator, formatMiniJournal(new MemoryDevice({ blockCount: 16 })))).toThrow(
      /expected at least/,
    );
    expect(() => hostOn(simulator, device, { commitInterval: 1 } as never)).toThrow(/commitIntervalNs/);
    expect(() => hostOn(simulator, device, { commitIntervalNs: 0 })).toThrow(/commitIntervalNs is 0/);
  });
});
