import type { Host } from '@flashstack/host';
import { type MaybeTask, RandomSource, type RandomStream } from '@flashstack/sim';
import { FileStatus, FsError, OpenFlag, Seek, type Thread, type UserProcess } from '@flashstack/vfs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listTree, StraceReader, SystemReplay, treeDifferences } from '../src/index.js';
import { memoryHost } from './memory-host.js';

/** A program of random calls, run on a host and printed as strace would have printed it. */
class TracedProgram {
  readonly lines: string[] = [];
  private readonly host: Host;
  private readonly random: RandomStream;
  private readonly actors: { pid: number; process: UserProcess; thread: Thread; open: Set<number> }[] = [];
  private microseconds = 0;
  private pids = 100;

  constructor(host: Host, random: RandomStream) {
    this.host = host;
    this.random = random;
    const process = host.process();
    this.actors.push({ pid: this.pids, process, thread: process.thread(), open: new Set() });
  }

  step(): void {
    const actor = this.actors[this.random.below(this.actors.length)];
    const { open, thread } = actor;
    const path = `${['', 'd/', 'd/e/'][this.random.below(3)]}${'abc'[this.random.below(3)]}`;
    const other = `${['', 'd/'][this.random.below(2)]}${'abc'[this.random.below(3)]}`;
    const full = `"/mnt/${path}"`;
    const fds = [...open];
    const fd = fds[this.random.below(Math.max(1, fds.length))];
    const length = this.random.below(20_000);
    const offset = this.random.below(30_000);
    const status = new FileStatus();
    const kind = this.random.below(fds.length === 0 ? 8 : 20);
    const at = (call: () => MaybeTask, text: string, value?: (result: number) => string): number =>
      this.call(actor.pid, call, text, value);
    if (kind === 0) at(() => thread.mkdir(`/${path}`, 0o777), `mkdir(${full}, 0777)`);
    else if (kind === 1) at(() => thread.unlink(`/${path}`), `unlink(${full})`);
    else if (kind === 2) at(() => thread.rename(`/${path}`, `/${other}`), `rename(${full}, "/mnt/${other}")`);
    else if (kind === 3)
      this.query(actor.pid, () => thread.stat(`/${path}`, status), `newfstatat(AT_FDCWD, ${full}`, status);
    else if (kind === 4 && this.actors.length < 4) this.fork(actor);
    else if (kind < 8) {
      const flags = OpenFlag.create | (kind === 5 ? OpenFlag.append : kind === 6 ? OpenFlag.truncate : 0);
      const names = `O_RDWR|O_CREAT${['|O_APPEND', '|O_TRUNC', ''][Math.max(0, kind - 5)]}`;
      const given = kind < 5 ? OpenFlag.create : flags;
      const shown = kind < 5 ? 'O_RDWR|O_CREAT' : names;
      const opened = at(
        () => thread.open(`/${path}`, OpenFlag.readWrite | given, 0o644),
        `openat(AT_FDCWD, ${full}, ${shown}, 0644)`,
      );
      if (opened >= 0) open.add(opened);
    } else if (kind === 8) at(() => thread.read(fd, null, length), `read(${fd}, ""..., ${length})`);
    else if (kind === 9) at(() => thread.write(fd, null, length), `write(${fd}, ""..., ${length})`);
    else if (kind === 10)
      at(() => thread.pread(fd, null, length, offset), `pread64(${fd}, ""..., ${length}, ${offset})`);
    else if (kind === 11)
      at(() => thread.pwrite(fd, null, length, offset), `pwrite64(${fd}, ""..., ${length}, ${offset})`);
    else if (kind === 12) at(() => thread.lseek(fd, offset, Seek.set), `lseek(${fd}, ${offset}, SEEK_SET)`);
    else if (kind === 13) at(() => thread.lseek(fd, 0, Seek.end), `lseek(${fd}, 0, SEEK_END)`);
    else if (kind === 14) at(() => thread.ftruncate(fd, offset), `ftruncate(${fd}, ${offset})`);
    else if (kind === 15) at(() => thread.fsync(fd), `fsync(${fd})`);
    else if (kind === 16) this.query(actor.pid, () => thread.fstat(fd, status), `newfstatat(${fd}, ""`, status);
    else if (kind === 17) open.add(at(() => thread.dup(fd), `dup(${fd})`));
    else if (kind === 18 && at(() => thread.close(fd), `close(${fd})`) === 0) open.delete(fd);
    else if (kind === 19)
      at(() => thread.fallocate(fd, 0, offset, length + 1), `fallocate(${fd}, 0, ${offset}, ${length + 1})`);
  }

  private fork(parent: (typeof this.actors)[number]): void {
    const pid = ++this.pids;
    const process = parent.process.fork();
    this.print(parent.pid, 'clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD)', String(pid));
    this.actors.push({ pid, process, thread: process.thread(), open: new Set(parent.open) });
  }

  private query(pid: number, call: () => MaybeTask, head: string, status: FileStatus): void {
    const shown = (): string => {
      const kind = status.mode >> 12 === 4 ? 'S_IFDIR' : 'S_IFREG';
      return `${head}, {st_mode=${kind}|0644, st_size=${status.size}, ...}, 0)`;
    };
    this.call(pid, call, `${head}, 0x7ffc, 0)`, undefined, shown);
  }

  /** Runs a call to its end and prints it; the result, −1 for an error. */
  private call(
    pid: number,
    call: () => MaybeTask,
    text: string,
    value: (result: number) => string = String,
    shown: () => string = () => text,
  ): number {
    try {
      const result = this.host.run(
        (function* () {
          const begun = call();
          return typeof begun === 'number' ? begun : yield* begun;
        })(),
      );
      this.print(pid, shown(), value(result));
      return result;
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      this.print(pid, text, `-1 ${error.code} (${error.message})`);
      return -1;
    }
  }

  /** In one line, or interrupted by another thread's call or by a signal. */
  private print(pid: number, text: string, result: string): void {
    const time = (): string =>
      `17000000${String(Math.floor(++this.microseconds / 1e6)).padStart(2, '0')}.${String(this.microseconds % 1e6).padStart(6, '0')}`;
    if (this.random.below(3) > 0) {
      this.lines.push(`${pid} ${time()} ${text} = ${result} <0.000001>`);
      return;
    }
    const cut = text.lastIndexOf(',') + 1 || text.indexOf('(') + 1;
    this.lines.push(`${pid} ${time()} ${text.slice(0, cut)} <unfinished ...>`);
    if (this.random.below(2) === 0) this.lines.push(`7 ${time()} getpid() = 7 <0.000001>`);
    else this.lines.push(`7 ${time()} --- SIGCHLD {si_signo=SIGCHLD} ---`);
    this.lines.push(
      `${pid} ${time()} <... ${text.slice(0, text.indexOf('('))} resumed>${text.slice(cut)} = ${result} <0.000002>`,
    );
  }
}

const full = process.env.CI !== undefined;
const numRuns = process.env.FLASHSTACK_LONG !== undefined ? 3000 : full ? 300 : 40;

test('random programs, printed as strace prints them, replay call by call and leave the same tree', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 120 }), (seed, steps) => {
      const recorded = memoryHost();
      const program = new TracedProgram(recorded, new RandomSource(seed).stream('program'));
      for (let i = 0; i < steps; i++) program.step();
      if (program.lines.length === 0) return;
      const reader = new StraceReader('random.strace');
      reader.push(new TextEncoder().encode(`${program.lines.join('\n')}\n`));
      const host = memoryHost();
      const replay = new SystemReplay(host.simulator, host, reader.end(), { root: '/mnt', pace: 'think' });
      replay.run();
      const { differences, lost, unsupported } = replay.stats;
      expect({ differences, lost, unsupported: [...unsupported], text: program.lines }).toEqual({
        differences: [],
        lost: 0,
        unsupported: [],
        text: program.lines,
      });
      const trees = [recorded, host].map((each) => each.run(listTree(each.process().thread())));
      expect(treeDifferences(trees[0], trees[1])).toEqual([]);
    }),
    { numRuns },
  );
});
