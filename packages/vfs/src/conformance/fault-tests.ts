import { FaultDevice, type FaultRule } from '@flashstack/block-device';
import { Simulator, type Task } from '@flashstack/sim';
import { FsError, OpenFlag } from '../index.js';
import { codeOf, equal, type FileSystemUnderTest, fails, go, Tester } from './harness.js';
import { copyOf } from './images.js';
import { removeAll } from './space-tests.js';
import { treeOf } from './tree.js';

const { create, direct, readWrite } = OpenFlag;
const BYTES = 2 * 2 ** 20;
/** How operations may end when the device fails. */
const ALLOWED = ['none', 'EIO', 'EROFS', 'EUCLEAN'];

/** Files that were made durable while the device was sound, and their contents; null: a name that is gone for good. */
type Durable = Map<string, string | null>;

/** Does something and says whether it succeeded; only errors that fit a failing device are allowed. */
type Attempt = (call: () => Task<unknown>) => Task<boolean>;

function* scenario(t: Tester, sound: () => boolean, durable: Durable): Task<void> {
  const attempt: Attempt = function* (call) {
    const code = yield* codeOf(call);
    if (!ALLOWED.includes(code) && !(code === 'ENOENT' && !sound())) throw new Error(`an operation ended with ${code}`);
    return code === 'none';
  };
  yield* rounds(t, attempt, sound, durable);
  yield* names(t, attempt, sound, durable);
  yield* ranges(t, attempt, sound, durable);
}

function* rounds(t: Tester, attempt: Attempt, sound: () => boolean, durable: Durable): Task<void> {
  for (let round = 0; round < 2; round++) {
    yield* attempt(() => t.mkdir(`/d${round}`));
    for (const name of [`/d${round}/a`, `/b${round}`]) {
      const text = `${name};`.repeat(1500);
      const done = yield* attempt(function* () {
        const fd = yield* go(t.root.open(name, create | readWrite, 0o644));
        try {
          yield* t.put(fd, text);
          yield* go(t.root.fsync(fd));
        } finally {
          yield* go(t.root.close(fd));
        }
      });
      if (done && sound()) durable.set(name, text);
    }
    // From here on the old name may be gone.
    const moved = durable.get(`/b${round}`);
    durable.delete(`/b${round}`);
    yield* attempt(() => go(t.root.rename(`/b${round}`, `/d${round}/b`)) as Task<unknown>);
    if ((yield* syncAll(t, attempt)) && sound() && moved !== undefined) {
      durable.set(`/d${round}/b`, moved);
    }
    yield* attempt(() => t.contents(`/d${round}/a`));
    yield* attempt(() => go(t.root.truncate(`/d${round}/b`, 100)) as Task<unknown>);
    durable.delete(`/d${round}/b`);
  }
}

/** `syncfs`, which tells of what failed: `sync` does not. */
function* syncAll(t: Tester, attempt: Attempt): Task<boolean> {
  return yield* attempt(function* () {
    const fd = yield* go(t.root.open('/', 0));
    try {
      yield* go(t.root.syncFs(fd));
    } finally {
      yield* go(t.root.close(fd));
    }
  });
}

/** Links of both kinds, and names that go: what was synced is there. */
function* names(t: Tester, attempt: Attempt, sound: () => boolean, durable: Durable): Task<void> {
  const { links, symlinks, attributeBytes } = t.capabilities;
  const pending: Durable = new Map();
  const expectLater = function* (path: string, state: string | null, call: () => Task<unknown>): Task<void> {
    durable.delete(path);
    if (yield* attempt(call)) pending.set(path, state);
  };
  yield* expectLater('/f', 'file', () => t.file('/f', 'file'));
  if (links > 1) yield* expectLater('/linked', 'file', () => go(t.root.link('/f', '/linked')) as Task<unknown>);
  if (symlinks) yield* expectLater('/symbolic', 'file', () => go(t.root.symlink('f', '/symbolic')) as Task<unknown>);
  if (attributeBytes > 0) {
    yield* attempt(() => go(t.root.setAttribute('/f', 'user.a', new Uint8Array(20))) as Task<unknown>);
    yield* attempt(() => go(t.root.removeAttribute('/f', 'user.a')) as Task<unknown>);
  }
  yield* attempt(() => t.mkdir('/gone'));
  yield* syncAll(t, attempt);
  yield* expectLater('/gone', null, () => go(t.root.rmdir('/gone')) as Task<unknown>);
  if (!((yield* syncAll(t, attempt)) && sound())) return;
  for (const [path, state] of pending) durable.set(path, state);
}

/** Space that is reserved, and writes past the cache. */
function* ranges(t: Tester, attempt: Attempt, sound: () => boolean, durable: Durable): Task<void> {
  const { directBytes, fallocate } = t.capabilities;
  const length = Math.max(8192, directBytes);
  const text = 'direct! '.repeat(length / 8);
  for (const [path, flags] of [
    ['/direct', direct],
    ['/cached', 0],
  ] as const) {
    const done = yield* attempt(function* () {
      const fd = yield* go(t.root.open(path, create | readWrite | flags, 0o644));
      try {
        for (const mode of fallocate) if (mode <= 1) yield* go(t.root.fallocate(fd, mode, 0, length));
        yield* t.put(fd, text);
        yield* go(t.root.fsync(fd));
        yield* t.get(fd, length, 0);
      } finally {
        yield* go(t.root.close(fd));
      }
    });
    if (done && sound()) durable.set(path, text);
  }
}

/**
 * Runs a scenario with the n-th request of the device failing (once, or from then on), for n = 0, 1, … until none fails:
 * operations end with an error that fits, nothing hangs, and a mount of the healthy device afterwards finds everything that
 * was durable before. Returns the number of requests that failed in turn.
 */
export function failEverywhere(subject: FileSystemUnderTest, once: boolean): number {
  const first = new Simulator();
  const base = subject.format?.(first, BYTES);
  if (base === undefined) throw new Error('a file system without a device cannot have faults');
  for (let skip = 0; ; skip++) {
    const simulator = new Simulator();
    const inner = copyOf(simulator, base);
    const rule: FaultRule = once ? { skip, times: 1 } : { skip };
    const device = new FaultDevice(inner, { simulator, latencyNs: 1000, rules: [rule] });
    const durable: Durable = new Map();
    try {
      runWithFaults(subject, simulator, device, durable);
    } catch (error) {
      throw new Error(`request ${skip} fails: ${(error as Error).message}`, { cause: error });
    }
    const restarted = new Simulator();
    const after = new Tester(subject, BYTES, { simulator: restarted, device: copyOf(restarted, inner) });
    after.run(judge(after, durable, skip));
    if (device.strikes[0] === 0) return skip;
  }
}

function runWithFaults(
  subject: FileSystemUnderTest,
  simulator: Simulator,
  device: FaultDevice,
  durable: Durable,
): void {
  let t: Tester;
  try {
    t = new Tester(subject, BYTES, { simulator, device });
  } catch (error) {
    if (error instanceof FsError && ALLOWED.includes(error.code)) return;
    throw error;
  }
  t.run(scenario(t, () => device.strikes[0] === 0, durable));
  const code = t.run(codeOf(() => t.unmount()));
  if (!ALLOWED.includes(code)) throw new Error(`unmount ended with ${code}`);
  t.mounted.cut();
}

function* judge(t: Tester, durable: Durable, skip: number): Task<void> {
  for (const [path, text] of durable) {
    if (text === null) yield* fails('ENOENT', `request ${skip} failed: ${path}`, () => t.lstat(path));
    else equal(yield* t.contents(path), text, `request ${skip} failed: contents of ${path}`);
  }
  yield* treeOf(t);
  yield* removeAll(t);
  yield* t.unmount();
}
