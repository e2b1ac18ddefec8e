import { FaultDevice, type FaultRule } from '@flashstack/block-device';
import { Simulator, type Task } from '@flashstack/sim';
import { FsError, OpenFlag } from '../index.js';
import { codeOf, equal, type FileSystemUnderTest, go, Tester } from './harness.js';
import { copyOf } from './images.js';
import { removeAll } from './space-tests.js';
import { treeOf } from './tree.js';

const { create, readWrite } = OpenFlag;
const BYTES = 2 * 2 ** 20;
/** How operations may end when the device fails. */
const ALLOWED = ['none', 'EIO', 'EROFS', 'EUCLEAN'];

/** Files that were made durable while the device was sound, and their contents. */
type Durable = Map<string, string>;

function* scenario(t: Tester, sound: () => boolean, durable: Durable): Task<void> {
  const attempt = function* (call: () => Task<unknown>): Task<boolean> {
    const code = yield* codeOf(call);
    if (!ALLOWED.includes(code) && !(code === 'ENOENT' && !sound())) throw new Error(`an operation ended with ${code}`);
    return code === 'none';
  };
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
    if ((yield* attempt(() => go(t.root.sync()) as Task<unknown>)) && sound() && moved !== undefined) {
      durable.set(`/d${round}/b`, moved);
    }
    yield* attempt(() => t.contents(`/d${round}/a`));
    yield* attempt(() => go(t.root.truncate(`/d${round}/b`, 100)) as Task<unknown>);
    durable.delete(`/d${round}/b`);
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
  for (const [path, text] of durable)
    equal(yield* t.contents(path), text, `request ${skip} failed: contents of ${path}`);
  yield* treeOf(t);
  yield* removeAll(t);
  yield* t.unmount();
}
