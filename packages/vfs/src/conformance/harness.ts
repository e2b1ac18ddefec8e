import type { BlockDevice } from '@flashstack/block-device';
import { Delay, type MaybeTask, runTask, Simulator, type Task } from '@flashstack/sim';
import {
  type DirectoryEntry,
  FileStatus,
  type FsCapabilities,
  FsError,
  type FsStatus,
  OpenFlag,
  type ProcessOptions,
  type SystemCalls,
  type Thread,
  type UserProcess,
} from '../index.js';

/** A mounted file system under a host. */
export interface MountedFileSystem {
  readonly calls: SystemCalls;
  /** Writes everything back, unmounts, and mounts the same file system under a new host. */
  remount(): Task<MountedFileSystem>;
  unmount(): Task<void>;
  /** Power is cut: nothing of this host runs again. */
  cut(): void;
}

/** What a package hands in to have its file system tested. */
export interface FileSystemUnderTest {
  readonly capabilities: FsCapabilities;
  /** A device of about so many bytes that takes no time and holds a new file system; absent: it lives in memory. */
  readonly format?: (simulator: Simulator, bytes: number) => BlockDevice;
  /**
   * Mounts what is on a device (null: makes a new one in memory, of so many bytes) under a new host. `seed`: for what is
   * random about it, such as delays.
   */
  readonly mount: (
    simulator: Simulator,
    device: BlockDevice | null,
    bytes: number,
    seed: number,
  ) => Task<MountedFileSystem>;
}

/** Something that a file system may offer, and what holds for one that does not: that it is refused by the right error. */
export interface Offer {
  has(capabilities: FsCapabilities): boolean;
  lacking(t: Tester): Task<void>;
}

/** One test: what to do with a newly made, mounted file system. */
export interface ConformanceTest {
  readonly name: string;
  /** What is tested; a file system that does not offer it runs `lacking` instead. */
  readonly needs?: Offer;
  readonly body: (t: Tester) => Task<void>;
}

/** Space of the file systems that most tests use, bytes. */
const USUAL_BYTES: number = 32 * 2 ** 20;

/** More entries than any test makes. */
const MOST_ENTRIES = 100_000;

/** Throws with a message that names what was expected. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Throws unless two values are the same, or print the same. */
export function equal<T>(found: T, expected: T, what: string): void {
  if (Object.is(found, expected)) return;
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (typeof found === 'object' && a === b) return;
  throw new Error(`${what}: found ${a}, expected ${b}`);
}

/** The result of a call, waited for. */
export function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

/** Code of the error that a call ends with, `none` if it succeeds. */
export function* codeOf(call: () => MaybeTask | Task<unknown>): Task<string> {
  try {
    const result = call();
    if (typeof result !== 'number') yield* result as Task<unknown>;
  } catch (error) {
    if (error instanceof FsError) return error.code;
    throw error;
  }
  return 'none';
}

/** Throws unless a call fails with one of these codes (separated by spaces). */
export function* fails(codes: string, what: string, call: () => MaybeTask | Task<unknown>): Task<void> {
  const code = yield* codeOf(call);
  if (!codes.split(' ').includes(code)) throw new Error(`${what}: ends with ${code}, expected ${codes}`);
}

/** One mounted file system and the programs that test it. */
export class Tester {
  readonly capabilities: FsCapabilities;
  readonly simulator: Simulator;
  /** A thread of root without umask. */
  root: Thread;
  mounted: MountedFileSystem;
  private readonly delay: Delay;
  private readonly programs: UserProcess[] = [];

  /** @param on a device that is mounted as it is, and its simulator; otherwise a new file system is made. */
  constructor(
    subject: FileSystemUnderTest,
    bytes: number = USUAL_BYTES,
    on: { readonly simulator: Simulator; readonly device: BlockDevice } | null = null,
    seed: number = 1,
  ) {
    this.capabilities = subject.capabilities;
    this.simulator = on?.simulator ?? new Simulator();
    this.delay = new Delay(this.simulator);
    const device = on?.device ?? subject.format?.(this.simulator, bytes) ?? null;
    this.mounted = this.run(subject.mount(this.simulator, device, bytes, seed));
    this.root = this.as(0, 0);
  }

  run<T>(task: Task<T>): T {
    return runTask(this.simulator, task, 'conformance');
  }

  /** A thread of a new process of this user, without umask. */
  as(uid: number, gid: number, more: ProcessOptions = {}): Thread {
    const program = this.mounted.calls.process({ name: `user ${uid}`, uid, gid, umask: 0, ...more });
    this.programs.push(program);
    return program.thread();
  }

  /** Lets time pass: times of files that are set later differ. */
  *later(ns: number = 2_000_000_000): Task<void> {
    yield this.delay.for(ns);
  }

  /** Ends all programs, unmounts and mounts again. Threads of before are dead afterwards. */
  *remount(): Task<void> {
    yield* this.end();
    this.mounted = yield* this.mounted.remount();
    this.root = this.as(0, 0);
  }

  /** Ends all programs and unmounts. */
  *unmount(): Task<void> {
    yield* this.end();
    yield* this.mounted.unmount();
  }

  private *end(): Task<void> {
    for (const program of this.programs) yield* program.exit();
    this.programs.length = 0;
  }

  *lstat(path: string, thread: Thread = this.root): Task<FileStatus> {
    const status = new FileStatus();
    yield* go(thread.lstat(path, status));
    return status;
  }

  *fstat(fd: number, thread: Thread = this.root): Task<FileStatus> {
    const status = new FileStatus();
    yield* go(thread.fstat(fd, status));
    return status;
  }

  /** A new file with these contents (one byte per character), closed again. */
  *file(path: string, contents: string = '', mode: number = 0o644, thread: Thread = this.root): Task<void> {
    const fd = yield* go(thread.open(path, OpenFlag.create | OpenFlag.exclusive | OpenFlag.writeOnly, mode));
    if (contents !== '') yield* this.put(fd, contents, thread);
    yield* go(thread.close(fd));
  }

  *mkdir(path: string, mode: number = 0o755, thread: Thread = this.root): Task<void> {
    yield* go(thread.mkdir(path, mode));
  }

  /** Writes all of a text at the cursor, or at `offset`. */
  *put(fd: number, text: string, thread: Thread = this.root, offset: number = -1): Task<void> {
    const bytes = bytesOf(text);
    const written = yield* go(
      offset < 0 ? thread.write(fd, bytes, bytes.length) : thread.pwrite(fd, bytes, bytes.length, offset),
    );
    equal(written, bytes.length, 'bytes written');
  }

  /** Up to `length` bytes from `offset` (the cursor if negative) as text. */
  *get(fd: number, length: number, offset: number = -1, thread: Thread = this.root): Task<string> {
    const into = new Uint8Array(length).fill(0xee);
    const read = yield* go(offset < 0 ? thread.read(fd, into, length) : thread.pread(fd, into, length, offset));
    return textOf(into.subarray(0, read));
  }

  *contents(path: string, thread: Thread = this.root): Task<string> {
    const fd = yield* go(thread.open(path, OpenFlag.readOnly));
    const { size } = yield* this.fstat(fd, thread);
    const text = yield* this.get(fd, size + 1, 0, thread);
    yield* go(thread.close(fd));
    return text;
  }

  /** All entries of a directory, in its order. */
  *entries(path: string, thread: Thread = this.root): Task<DirectoryEntry[]> {
    const fd = yield* go(thread.open(path, OpenFlag.readOnly | OpenFlag.directory));
    const out: DirectoryEntry[] = [];
    while ((yield* go(thread.readdir(fd, out))) > 0) check(out.length < MOST_ENTRIES, `the listing of ${path} ends`);
    yield* go(thread.close(fd));
    return out;
  }

  /** Names of a directory, sorted, without `.` and `..`. */
  *names(path: string, thread: Thread = this.root): Task<string[]> {
    const entries = yield* this.entries(path, thread);
    return entries
      .map((entry) => entry.name)
      .filter((name) => name !== '.' && name !== '..')
      .sort();
  }

  *status(thread: Thread = this.root): Task<FsStatus> {
    const status: FsStatus = { blockBytes: 0, blocks: 0, free: 0, available: 0, inodes: 0, freeInodes: 0 };
    yield* go(thread.statfs('/', status));
    return status;
  }
}

/** One byte per character. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** One character per byte. */
export function textOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
