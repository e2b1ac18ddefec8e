import type { BlockDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { type MaybeTask, runTask, SimulationError, Simulator, type Task } from '@flashstack/sim';
import {
  type DirectoryEntry,
  FileKind,
  FileStatus,
  FsError,
  OpenFlag,
  SimplePageCache,
  type Thread,
} from '@flashstack/vfs';
import type { CrashSubject } from '../subject.js';
import { BudgetError } from './overlay-device.js';

/** How the use of a damaged image may end. The last three are failures of the file system. */
export type MutantOutcome = 'unnoticed' | 'complaint' | 'error' | 'refused' | 'vague' | 'endless' | 'exception';

/** How the use of one damaged image ended. */
export interface MutantEnd {
  readonly outcome: MutantOutcome;
  /** What was being done: `mount`, `walk`, `write`, `unmount` or `check`. */
  readonly phase: string;
  /** What was said. */
  readonly text: string;
}

/** Bytes that are read at each end of a file. */
const SHARE = 8_192;
/** Names that are looked at; a damaged tree may lead back into itself. */
const MOST_NAMES = 2_000;
const PROBE = 'mutant.probe';
const { create, directory, readOnly, readWrite, truncate } = OpenFlag;

/** Errors that speak of the image, and must say of what in it. */
const DAMAGE = new Set(['EUCLEAN', 'EIO']);

/**
 * Mounts an image, walks its tree and reads it, writes a little, unmounts and checks it. Whatever else than an FsError is
 * thrown is a failure, and so is an error about damage that does not name a structure.
 * @param words sorts of structures, one of which an error must name.
 */
export function exercise(subject: CrashSubject, device: BlockDevice, words: RegExp): MutantEnd {
  const errors: MutantEnd[] = [];
  let phase = 'mount';
  const attempt = (task: () => void): boolean => {
    try {
      task();
      return true;
    } catch (error) {
      errors.push(endOf(error, phase, words));
      return false;
    }
  };
  const simulator = new Simulator({ stallNs: 600_000_000_000, livelockResumptions: 100_000 });
  const host = new Host({
    simulator,
    cache: new SimplePageCache(simulator, device),
    fileSystem: (environment) => subject.scheme.open(device, environment),
  });
  if (attempt(() => host.run(host.mount()))) {
    const program = host.process({ umask: 0 });
    const thread = program.thread();
    const each = (task: Task<unknown>): boolean => attempt(() => host.run(task));
    phase = 'walk';
    walk(thread, each);
    phase = 'write';
    for (const task of changes(thread)) if (!each(task)) break;
    phase = 'unmount';
    if (each(program.exit())) each(host.unmount());
  }
  const { check } = subject;
  phase = 'check';
  if (check !== undefined) {
    attempt(() => {
      const found = runTask(new Simulator(), check(device), 'checker');
      if (found.length > 0) errors.push({ outcome: 'complaint', phase, text: found[0] });
    });
  }
  return worst(errors);
}

/** Severity: the failures first, then what stopped the file system earliest. */
const ORDER: readonly MutantOutcome[] = ['exception', 'endless', 'vague', 'refused', 'error', 'complaint'];

function worst(errors: readonly MutantEnd[]): MutantEnd {
  for (const outcome of ORDER) {
    const found = errors.find((end) => end.outcome === outcome);
    if (found !== undefined) return found;
  }
  return { outcome: 'unnoticed', phase: '', text: '' };
}

function endOf(error: unknown, phase: string, words: RegExp): MutantEnd {
  if (error instanceof BudgetError || error instanceof SimulationError) {
    return { outcome: 'endless', phase, text: error.message };
  }
  if (!(error instanceof FsError)) return { outcome: 'exception', phase, text: describe(error) };
  const aboutDamage = DAMAGE.has(error.code) || phase === 'mount';
  const outcome = aboutDamage && !words.test(error.message) ? 'vague' : phase === 'mount' ? 'refused' : 'error';
  return { outcome, phase, text: error.message };
}

/** An exception with the place that it comes from, which tells one defect from another. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = /([\w.-]+\.[jt]s:\d+)/.exec((error.stack ?? '').slice(error.message.length))?.[1];
  return `${error.name}: ${error.message}${place === undefined ? '' : ` (${place})`}`;
}

/** Looks at everything below the root; an error ends only what it is about. */
function walk(thread: Thread, each: (task: Task<unknown>) => boolean): void {
  const directories = ['.'];
  let names = 0;
  for (let at = 0; at < directories.length && names < MOST_NAMES; at++) {
    const entries: DirectoryEntry[] = [];
    each(list(thread, directories[at], entries));
    for (const { name } of entries) {
      if (name === '.' || name === '..' || name === '' || name.includes('/')) continue;
      if (++names > MOST_NAMES) break;
      const path = `${directories[at]}/${name}`;
      const status = new FileStatus();
      if (!each(call(() => thread.lstat(path, status)))) continue;
      const kind = status.mode >> 12;
      if (kind === FileKind.directory && path.length < 2_000) directories.push(path);
      if (kind === FileKind.regular) each(readEnds(thread, path, status.size));
      if (kind === FileKind.symlink) each(readLink(thread, path));
      if (kind !== FileKind.symlink) each(readAttributes(thread, path));
    }
  }
}

function* list(thread: Thread, path: string, entries: DirectoryEntry[]): Task<void> {
  const fd = yield* wait(thread.open(path, readOnly | directory));
  while (entries.length < MOST_NAMES && (yield* wait(thread.readdir(fd, entries))) > 0);
  yield* wait(thread.close(fd));
}

function* readEnds(thread: Thread, path: string, size: number): Task<void> {
  const fd = yield* wait(thread.open(path, readOnly));
  const bytes = new Uint8Array(SHARE);
  yield* wait(thread.pread(fd, bytes, SHARE, 0));
  if (size > SHARE) yield* wait(thread.pread(fd, bytes, SHARE, Math.max(SHARE, size - SHARE)));
  yield* wait(thread.close(fd));
}

function* readLink(thread: Thread, path: string): Task<void> {
  yield* thread.readlink(path);
}

function* readAttributes(thread: Thread, path: string): Task<void> {
  let names: string[];
  try {
    names = yield* thread.listAttributes(path);
  } catch (error) {
    if (error instanceof FsError && error.code === 'EOPNOTSUPP') return;
    throw error;
  }
  for (const name of names) yield* thread.getAttribute(path, name);
}

/** What is written: a file, a directory, names that come and go. The first that fails is the last. */
function changes(thread: Thread): Task<unknown>[] {
  function* file(): Task<void> {
    const fd = yield* wait(thread.open(PROBE, create | readWrite | truncate, 0o600));
    const bytes = new Uint8Array(10_000).fill(0x70);
    yield* wait(thread.write(fd, bytes, bytes.length));
    yield* wait(thread.fsync(fd));
    yield* wait(thread.close(fd));
  }
  return [
    file(),
    call(() => thread.mkdir(`${PROBE}.d`, 0o700)),
    call(() => thread.rename(PROBE, `${PROBE}.d/file`)),
    call(() => thread.sync()),
    call(() => thread.unlink(`${PROBE}.d/file`)),
    call(() => thread.rmdir(`${PROBE}.d`)),
    call(() => thread.sync()),
  ];
}

/** A call that begins when the task runs: it may throw at once. */
function* call(begin: () => MaybeTask): Task<number> {
  return yield* wait(begin());
}

function* wait(call: MaybeTask): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}
