import { BaseImage, CrashDevice, CrashImages, IdentitySet } from '@flashstack/block-device/crash';
import { Delay, RandomSource, type RandomStream, Simulator, type Task } from '@flashstack/sim';
import { OpenFlag, type Thread } from '../index.js';
import { bytesOf, check, equal, type FileSystemUnderTest, go, Tester } from './harness.js';
import { CutMoments } from './images.js';
import { removeAll } from './space-tests.js';
import { treeOf } from './tree.js';

const { append, create, dataSync, readOnly, sync, truncate, writeOnly } = OpenFlag;
/** Space of the file systems that are cut, bytes. */
const BYTES = 4 * 2 ** 20;
const RECORD = 700;

/** How far the programs have come, and what is promised. */
class Progress {
  /** Versions of `/current`: the last that was begun to be moved there, and the last that must be there. */
  moved = 0;
  movedDurably = 0;
  /** Bytes of `/log`: written, and made durable. */
  logged = 0;
  loggedDurably = 0;
  /** What each name in `/churn` may be: present (true), absent. */
  names: Map<string, Set<boolean>> = new Map();

  copy(): Progress {
    const copy = Object.assign(new Progress(), this);
    copy.names = new Map([...this.names].map(([name, states]) => [name, new Set(states)]));
    return copy;
  }
}

const versionText = (version: number): string => `version ${version};`.repeat(200 + 300 * (version % 5));
const logText = (bytes: number): string => {
  let text = '';
  for (let at = 0; text.length < bytes; at++) text += `${at}`.padStart(10, '.');
  return text.slice(0, bytes);
};

/** A file that is replaced again and again by a new one, which was made durable before. */
function* replace(thread: Thread, progress: Progress, rounds: number): Task<void> {
  const root = yield* go(thread.open('/', readOnly));
  for (let version = 1; version <= rounds; version++) {
    const fd = yield* go(thread.open('/new', create | truncate | writeOnly, 0o644));
    const bytes = bytesOf(versionText(version));
    yield* go(thread.write(fd, bytes, bytes.length));
    yield* go(thread.fsync(fd));
    yield* go(thread.close(fd));
    progress.moved = version;
    yield* go(thread.rename('/new', '/current'));
    if (version % 2 === 0) continue;
    yield* go(thread.fsync(root));
    progress.movedDurably = version;
  }
}

/** A file that grows, and is made durable now and then. */
function* log(thread: Thread, progress: Progress, rounds: number): Task<void> {
  const fd = yield* go(thread.open('/log', create | append | writeOnly, 0o644));
  const synchronous: number[] = [];
  for (const flag of [dataSync, sync]) synchronous.push(yield* go(thread.open('/log', append | writeOnly | flag)));
  const text = logText(rounds * RECORD);
  for (let round = 0; round < rounds; round++) {
    progress.logged += RECORD;
    // A synchronous write is about its own bytes only: those before it are durable already.
    const through = round % 3 === 1 ? synchronous[round % 2] : fd;
    yield* go(thread.write(through, bytesOf(text.slice(round * RECORD, (round + 1) * RECORD)), RECORD));
    if (round % 3 === 0) yield* go(thread.fdatasync(fd));
    else if (through === fd && round % 5 === 0) yield* go(thread.fsync(fd));
    else if (through === fd) continue;
    progress.loggedDurably = (round + 1) * RECORD;
  }
}

/** Names that come and go; after a sync all are what they are. */
function* churn(thread: Thread, progress: Progress, random: RandomStream, rounds: number): Task<void> {
  yield* go(thread.mkdir('/churn', 0o755));
  const present = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const name = `${random.below(12)}`;
    const states = progress.names.get(name) ?? new Set([false]);
    progress.names.set(name, states.add(!present.has(name)));
    if (present.delete(name)) {
      yield* go(thread.unlink(`/churn/${name}`));
    } else {
      present.add(name);
      yield* go(thread.mknod(`/churn/${name}`, 0o100644, 0));
    }
    if (round % 6 !== 5) continue;
    yield* go(thread.sync());
    for (const [known, possible] of progress.names) {
      possible.clear();
      possible.add(present.has(known));
    }
  }
}

/** Throws unless a recovered tree keeps what was promised. */
function* judge(t: Tester, progress: Progress): Task<void> {
  const names = yield* t.names('/');
  if (names.includes('current')) {
    const text = yield* t.contents('/current');
    let version = progress.moved;
    while (version > 0 && text !== versionText(version)) version--;
    check(version > 0, `R6 rename: /current of ${text.length} bytes is no version up to ${progress.moved}`);
    check(version >= progress.movedDurably, `R5: /current is version ${version}, ${progress.movedDurably} was durable`);
  } else {
    equal(progress.movedDurably, 0, 'R6 rename: /current is absent, its last durable version');
  }
  if (names.includes('log')) judgeLog(yield* t.contents('/log'), progress);
  else equal(progress.loggedDurably, 0, 'R4: /log is absent, its durable bytes');
  const there = names.includes('churn') ? yield* t.names('/churn') : [];
  for (const [name, states] of progress.names) {
    check(states.has(there.includes(name)), `R10 sync: /churn/${name} is ${there.includes(name) ? 'there' : 'absent'}`);
  }
  for (const name of there) check(progress.names.has(name), `R13: /churn/${name} was never made`);
}

function judgeLog(text: string, progress: Progress): void {
  check(
    text.length >= progress.loggedDurably,
    `R2: /log has ${text.length} bytes, ${progress.loggedDurably} were durable`,
  );
  check(text.length <= progress.logged, `R13: /log has ${text.length} bytes, ${progress.logged} were written`);
  const expected = logText(text.length);
  for (let at = 0; at < text.length; at++) {
    if (text[at] === expected[at] || (text[at] === '\0' && at >= progress.loggedDurably)) continue;
    throw new Error(`R7: byte ${at} of /log is ${JSON.stringify(text[at])}, expected ${JSON.stringify(expected[at])}`);
  }
}

/** R1: everything works after recovery, and a second mount changes nothing. */
function* probe(t: Tester): Task<void> {
  const before = yield* treeOf(t, { times: true });
  yield* t.remount();
  equal((yield* treeOf(t, { times: true })).join('\n'), before.join('\n'), 'R1: tree after a second mount');
  yield* t.file('/probe', 'probe');
  yield* go(t.root.rename('/probe', '/probed'));
  equal(yield* t.contents('/probed'), 'probe', 'R1: contents of a new file');
  yield* removeAll(t);
  equal((yield* t.names('/')).join(), '', 'R1: names after removing everything');
}

/** Cuts power at each flush of three programs that run together; returns how many images were judged. */
export function cutEverywhere(subject: FileSystemUnderTest, seed: number, rounds: number, subsets: number): number {
  const simulator = new Simulator();
  const base = subject.format?.(simulator, BYTES);
  if (base === undefined) throw new Error('a file system without a device cannot be cut');
  const source = new RandomSource(seed);
  const latency = { simulator, random: source.stream('latency'), leastNs: 20_000, mostNs: 180_000 };
  const crash = new CrashDevice(BaseImage.of(simulator, base), { latency });
  const progress = new Progress();
  const promises = new Map<number, Progress>();
  const device = new CutMoments(crash, (position) => promises.set(position, progress.copy()));
  const t = new Tester(subject, BYTES, { simulator, device });
  const programs = [
    replace(t.as(0, 0), progress, rounds),
    log(t.as(0, 0), progress, rounds * 3),
    churn(t.as(0, 0), progress, source.stream('churn'), rounds * 4),
  ].map((task) => simulator.spawn('program', task));
  t.run(
    (function* () {
      for (const program of programs) yield program;
      yield new Delay(simulator).for(1_000_000);
    })(),
  );
  promises.set(crash.position, progress.copy());
  t.mounted.cut();
  const images = new CrashImages(crash, { draws: subsets, most: subsets + 2, random: source.stream('keep') });
  const after = crash.successor({});
  const seen = new IdentitySet();
  for (images.begin(); images.next(); ) {
    if (!seen.add(images.low, images.high)) continue;
    const cut = images.lastCut;
    images.open(after);
    const restarted = new Tester(subject, BYTES, { simulator: new Simulator(), device: after });
    try {
      restarted.run(judge(restarted, promises.get(cut) as Progress));
      restarted.run(probe(restarted));
    } catch (error) {
      const message = `seed ${seed}, cut ${cut}, image ${images.tried}: ${(error as Error).message}`;
      throw new Error(message, { cause: error });
    }
  }
  return seen.size;
}
