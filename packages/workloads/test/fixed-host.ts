import { Delay, type MaybeTask, type Simulator, type Task } from '@flashstack/sim';
import {
  type FileStatus,
  FsError,
  OpenFlag,
  type ProcessOptions,
  Seek,
  type SystemCalls,
  type Thread,
  type UserProcess,
} from '@flashstack/vfs';

/** One call as the host got it. */
export interface LoggedCall {
  readonly pid: number;
  readonly name: string;
  /** Path of the file, and numbers. */
  readonly on: string;
  readonly numbers: readonly number[];
  readonly startNs: number;
}

interface Open {
  readonly path: string;
  position: number;
}

/**
 * A host that keeps sizes of files by path and nothing else, on which each call takes a fixed time: for closed forms, and
 * for the order of calls. No
 * links or permissions; every process works in `/`.
 */
export class FixedHost implements SystemCalls {
  readonly files = new Map<string, number>();
  readonly log: LoggedCall[] = [];
  /** Failures to come: the calls of a name fail from the given count on. */
  readonly failing = new Map<string, { after: number; readonly code: 'ENOSPC' | 'EIO' }>();
  private readonly simulator: Simulator;
  private readonly costs: Readonly<Record<string, number>>;
  private readonly otherNs: number;
  private pids = 0;

  /** @param costs ns by name of the call; `otherNs` for the others. */
  constructor(simulator: Simulator, costs: Readonly<Record<string, number>> = {}, otherNs = 0) {
    this.simulator = simulator;
    this.costs = costs;
    this.otherNs = otherNs;
  }

  /** Names of the calls so far, those of a run apart by runs: `open pwrite×3 close`. */
  get text(): string {
    const runs: [string, number][] = [];
    for (const { name } of this.log) {
      const last = runs.at(-1);
      if (last?.[0] === name) last[1]++;
      else runs.push([name, 1]);
    }
    return runs.map(([name, count]) => (count === 1 ? name : `${name}×${count}`)).join(' ');
  }

  process(options: ProcessOptions = {}): UserProcess {
    return this.start(options.name ?? 'process', []);
  }

  private start(name: string, open: (Open | undefined)[]): UserProcess {
    const pid = ++this.pids;
    const process: UserProcess = {
      pid,
      name,
      thread: () => this.thread(process, open),
      fork: (child = name) => this.start(child, [...open]),
      // biome-ignore lint/correctness/useYield: a task that need not wait
      *exit(): Task<void> {
        open.length = 0;
      },
    };
    return process;
  }

  private thread(process: UserProcess, open: (Open | undefined)[]): Thread {
    const take = (name: string, on: string, numbers: readonly number[], result: () => number): MaybeTask =>
      this.take(process.pid, name, on, numbers, result);
    const of = (fd: number): Open => {
      const found = open[fd];
      if (found === undefined) throw new FsError('EBADF', String(fd));
      return found;
    };
    const size = (relative: string): number => {
      const path = absolute(relative);
      const found = this.files.get(path);
      if (found === undefined) throw new FsError('ENOENT', path);
      return found;
    };
    const absolute = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
    const grow = (path: string, to: number): void => void this.files.set(path, Math.max(this.files.get(path) ?? 0, to));
    const calls = {
      process,
      open: (relative: string, flags: number) =>
        take('open', relative, [flags], () => {
          const path = absolute(relative);
          if ((flags & OpenFlag.create) === 0) size(path);
          if ((flags & OpenFlag.truncate) !== 0) this.files.set(path, 0);
          grow(path, 0);
          let fd = 0;
          while (open[fd] !== undefined) fd++;
          open[fd] = { path, position: 0 };
          return fd;
        }),
      close: (fd: number) =>
        take('close', of(fd).path, [], () => {
          open[fd] = undefined;
          return 0;
        }),
      dup: (fd: number) => {
        let to = 0;
        while (open[to] !== undefined) to++;
        open[to] = of(fd);
        return to;
      },
      pread: (fd: number, _: null, length: number, offset: number) =>
        take('pread', of(fd).path, [length, offset], () => Math.max(0, Math.min(length, size(of(fd).path) - offset))),
      pwrite: (fd: number, _: null, length: number, offset: number) =>
        take('pwrite', of(fd).path, [length, offset], () => {
          grow(of(fd).path, offset + length);
          return length;
        }),
      read: (fd: number, _: null, length: number) =>
        take('read', of(fd).path, [length], () => {
          const file = of(fd);
          const bytes = Math.max(0, Math.min(length, size(file.path) - file.position));
          file.position += bytes;
          return bytes;
        }),
      write: (fd: number, _: null, length: number) =>
        take('write', of(fd).path, [length, of(fd).position], () => {
          const file = of(fd);
          file.position += length;
          grow(file.path, file.position);
          return length;
        }),
      lseek: (fd: number, offset: number, whence: number) =>
        take('lseek', of(fd).path, [offset], () => {
          const file = of(fd);
          const from = whence === Seek.current ? file.position : whence === Seek.end ? size(file.path) : 0;
          file.position = from + offset;
          return file.position;
        }),
      fsync: (fd: number) => take('fsync', of(fd).path, [], () => 0),
      fdatasync: (fd: number) => take('fdatasync', of(fd).path, [], () => 0),
      fadvise: (fd: number, _: number, length: number, advice: number) =>
        take('fadvise', of(fd).path, [length, advice], () => 0),
      fallocate: (fd: number, mode: number, offset: number, length: number) =>
        take('fallocate', of(fd).path, [mode, offset, length], () => {
          grow(of(fd).path, offset + length);
          return 0;
        }),
      ftruncate: (fd: number, length: number) =>
        take('ftruncate', of(fd).path, [length], () => {
          this.files.set(of(fd).path, length);
          return 0;
        }),
      stat: (path: string, out: FileStatus) =>
        take('stat', path, [], () => {
          out.size = size(path);
          return 0;
        }),
      fstat: (fd: number, out: FileStatus): MaybeTask => calls.stat(of(fd).path, out),
      lstat: (path: string, out: FileStatus): MaybeTask => calls.stat(path, out),
      unlink: (path: string) =>
        take('unlink', path, [], () => {
          size(path);
          this.files.delete(path);
          return 0;
        }),
      rename: (from: string, to: string) =>
        take('rename', from, [], () => {
          const bytes = size(from);
          this.files.delete(absolute(from));
          this.files.set(absolute(to), bytes);
          return 0;
        }),
      sync: () => take('sync', '', [], () => 0),
      chdir: (path: string) => take('chdir', path, [], () => 0),
    };
    return calls as unknown as Thread;
  }

  private take(pid: number, name: string, on: string, numbers: readonly number[], result: () => number): MaybeTask {
    this.log.push({ pid, name, on, numbers, startNs: this.simulator.now });
    const failure = this.failing.get(name);
    if (failure !== undefined && failure.after-- <= 0) throw new FsError(failure.code, on);
    const ns = this.costs[name] ?? this.otherNs;
    return ns === 0 || this.simulator.tryAdvance(ns) ? result() : this.wait(ns, result);
  }

  private *wait(ns: number, result: () => number): Task<number> {
    yield new Delay(this.simulator).for(ns);
    return result();
  }
}
