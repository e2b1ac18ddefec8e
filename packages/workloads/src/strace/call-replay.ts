import type { Simulator, Task } from '@flashstack/sim';
import {
  FileStatus,
  FsError,
  type FsStatus,
  OpenFlag,
  type SystemCalls,
  type Thread,
  type UserProcess,
} from '@flashstack/vfs';
import { done } from '../files/done.js';
import { makeParents } from '../files/parents.js';
import { annotation, descriptorOf, textOf } from './arguments.js';
import { type CallScene, type Place, placeOf } from './call-scene.js';
import { dataCalls } from './data-calls.js';
import { attached, descriptorCalls, unmapped } from './descriptor-calls.js';
import { shownFile } from './file-sizes.js';
import { nameCalls } from './name-calls.js';
import type { SystemReplayOptions } from './replay-options.js';
import { Mark, type ReplayedCall, type ReplayedCalls } from './replayed-call.js';
import { SystemReplayStats } from './system-replay-stats.js';
import type { SystemTrace, TracedCall } from './system-trace.js';
import type { TraceRoot } from './trace-root.js';
import { OUTSIDE, type TracedProcess, type TracedThread } from './traced-process.js';

const handlers: ReplayedCalls = { ...descriptorCalls, ...dataCalls, ...nameCalls };
/** Their first argument is a number, but no descriptor. */
const NO_DESCRIPTOR = /^(?:wait4|waitid|t?g?kill|tkill|exit|exit_group|[gs]et.*|prlimit64|sched_.*|umask|alarm|prctl)$/;
/** On a file below the root they change and read nothing. */
const NO_EFFECT = /^(?:flock|poll|ppoll|select|pselect6|epoll_ctl|fstatfs|statfs|inotify_add_watch)$/;
/** Their data operations are invisible to strace: never in silence. */
const HIDDEN = /^(?:io_uring_enter|io_submit)$/;
/** Failed calls that would not have followed a link at the end of their path. */
const OF_LINK = /^(?:l|unlink|rmdir|rename|mkdir|mknod|symlink|readlink|link)/;
const SHOWN = 200;
const PIECE_BYTES = 1 << 20;

/** Carries out single calls and counts what became of them. */
export class CallReplay {
  readonly stats: SystemReplayStats;
  private readonly simulator: Simulator;
  private readonly host: SystemCalls;
  private readonly trace: SystemTrace;
  private readonly root: TraceRoot;
  private readonly options: Required<SystemReplayOptions>;
  /** Makes missing files; a process of its own, so that it disturbs no descriptor. */
  private maker: { readonly user: UserProcess; readonly thread: Thread } | null = null;

  constructor(
    simulator: Simulator,
    host: SystemCalls,
    trace: SystemTrace,
    root: TraceRoot,
    options: Required<SystemReplayOptions>,
  ) {
    this.simulator = simulator;
    this.host = host;
    this.trace = trace;
    this.root = root;
    this.options = options;
    this.stats = new SystemReplayStats(options.differences);
  }

  /** Carries out a call again, or what of it can be; `assigned` has to follow when it has ended in the trace. */
  *replay(scene: CallScene, call: TracedCall): Task<void> {
    if (call.arguments.some((argument) => argument.includes('</'))) yield* this.annotated(scene, call);
    const handler = Object.hasOwn(handlers, call.name) ? handlers[call.name] : undefined;
    if (call.error !== '' || Number.isNaN(call.result)) yield* this.failed(scene, call, handler);
    else if (handler === undefined) this.unhandled(scene, call);
    else yield* this.carriedOut(scene, call, handler);
  }

  /** The process is gone: what it had open is closed. */
  *ended(process: TracedProcess): Task<void> {
    yield* unmapped({ process, thread: process.user.thread('exit') });
    yield* process.user.exit();
  }

  /** The replay is over: the process that made missing files is gone. */
  *end(): Task<void> {
    if (this.maker !== null) yield* this.maker.user.exit();
  }

  /** What the replay of a call works with. */
  sceneOf(index: number, actor: TracedThread): CallScene {
    const { mappedReads, mappedWrites } = this.options;
    return {
      root: this.root,
      actor,
      thread: actor.thread,
      process: actor.process,
      mappedReads,
      mappedWrites,
      assignments: [],
      note: (call, recorded, found) => this.note(call, recorded, found),
      make: (place) => this.make(index, place),
    };
  }

  private *carriedOut(scene: CallScene, call: TracedCall, handler: ReplayedCall): Task<void> {
    const { simulator, stats } = this;
    const startNs = simulator.now;
    let result = 0;
    try {
      result = yield* handler.run(scene, call);
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      this.note(call, String(call.result), error.code);
      stats.of(call.name).calls++;
      return;
    }
    if (result < 0) {
      this.marked(call, result);
      return;
    }
    const counted = stats.of(call.name);
    counted.calls++;
    counted.latencyNs.record(simulator.now - startNs);
    if (handler.compares === true && result !== call.result) this.note(call, String(call.result), String(result));
    if (handler.moves === undefined) return;
    counted.bytes += result;
    if (handler.moves === 'read') stats.readBytes += result;
    else if (handler.moves === 'write') stats.writtenBytes += result;
    else stats.copiedBytes += result;
  }

  private marked(call: TracedCall, mark: number): void {
    const { stats } = this;
    if (mark === Mark.outside) stats.count(stats.outside, call.name);
    else if (mark === Mark.noEffect) stats.count(stats.noEffect, call.name);
    else if (mark === Mark.unsupported) this.unsupported(call);
    else stats.lost++;
  }

  private unsupported(call: TracedCall): void {
    const detail = /^(?:fcntl|ioctl)/.test(call.name) ? ` ${call.arguments[1]}` : '';
    this.stats.count(this.stats.unsupported, call.name + detail);
  }

  /** A call of a name that the replay does not know. */
  private unhandled(scene: CallScene, call: TracedCall): void {
    const first = scene.process.descriptors[descriptorOf(call.arguments[0])];
    const onFile = first !== undefined && first.fd !== OUTSIDE && !NO_DESCRIPTOR.test(call.name);
    const path = call.arguments.map(textOf).find((text) => text?.startsWith('/') && this.root.contains(text));
    const inside = onFile || (path !== undefined && path !== null);
    if (HIDDEN.test(call.name) || (inside && !NO_EFFECT.test(call.name))) this.unsupported(call);
    else this.marked(call, inside ? Mark.noEffect : Mark.outside);
  }

  /** A recorded failure is repeated as a look-up of its path, which costs what the failure cost, and changes nothing. */
  private *failed(scene: CallScene, call: TracedCall, handler: ReplayedCall | undefined): Task<void> {
    const { stats } = this;
    const place = handler?.path === undefined ? null : placeOf(scene, call, handler.path[0], handler.path[1]);
    if (place === null) {
      const first = scene.process.descriptors[descriptorOf(call.arguments[0])];
      if (handler?.path === undefined && first !== undefined && first.fd !== OUTSIDE) stats.failedCalls++;
      else stats.count(stats.outside, call.name);
      return;
    }
    stats.lookups++;
    const found = yield* this.lookedUp(scene, call, place);
    const expected = ['EEXIST', 'ENOTEMPTY', 'EISDIR'].includes(call.error) ? '' : call.error;
    // Of two paths, the other one may have been the missing one; other errors a look-up cannot tell.
    const decides = expected === '' || (expected === 'ENOENT' && !/^(?:rename|link)/.test(call.name));
    if (decides && found !== expected) this.note(call, call.error, found === '' ? 'it exists' : found);
  }

  private *lookedUp(scene: CallScene, call: TracedCall, place: Place): Task<string> {
    const status = new FileStatus();
    const ofLink =
      OF_LINK.test(call.name) || call.error === 'EEXIST' || /_(?:NO|SYMLINK_NO)FOLLOW/.test(call.arguments.join());
    try {
      const { thread } = scene;
      yield* done(ofLink ? thread.lstat(place.path, status, place.at) : thread.stat(place.path, status, place.at));
      return '';
    } catch (error) {
      if (error instanceof FsError) return error.code;
      throw error;
    }
  }

  /** What `-y` tells besides: where a thread works, and files that were open before the trace began. */
  private *annotated(scene: CallScene, call: TracedCall): Task<void> {
    const { process } = scene;
    for (const argument of call.arguments) {
      const path = annotation(argument);
      if (path === '') continue;
      const fd = descriptorOf(argument);
      if (Number.isNaN(fd)) {
        if (path === process.directory) continue;
        process.directory = path;
        if (this.root.contains(path)) yield* this.workIn(scene, call, path);
      } else if (process.descriptors[fd] === undefined && this.root.contains(path)) {
        this.stats.attached++;
        yield* attached(scene, fd, path);
      }
    }
  }

  /** Goes to a directory that the trace takes for granted. */
  private *workIn(scene: CallScene, call: TracedCall, traced: string): Task<void> {
    const path = this.root.map(traced);
    try {
      yield* done(scene.thread.chdir(path));
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      if (error.code === 'ENOENT' && this.options.missing === 'make') {
        yield* this.directories(path);
        this.stats.made.push(`d 0 ${path}`);
        yield* done(scene.thread.chdir(path));
      } else {
        this.note(call, `works in ${traced}`, error.code);
      }
    }
  }

  private *make(index: number, place: Place): Task<boolean> {
    if (this.options.missing !== 'make') return false;
    const { directory, size } = shownFile(this.trace, index);
    const path = this.root.map(place.traced);
    const maker = yield* this.directories(directory ? path : path.slice(0, path.lastIndexOf('/')));
    if (!directory) {
      yield* checkRoom(maker, path, size);
      const fd = yield* done(maker.open(path, OpenFlag.writeOnly | OpenFlag.create, 0o644));
      for (let at = 0; at < size; at += PIECE_BYTES) {
        yield* done(maker.pwrite(fd, null, Math.min(PIECE_BYTES, size - at), at));
      }
      yield* done(maker.close(fd));
    }
    this.stats.made.push(`${directory ? 'd' : 'f'} ${size} ${path}`);
    return true;
  }

  /** Makes a directory and those above it, as far as they are missing; the thread that does such things. */
  private *directories(path: string): Task<Thread> {
    if (this.maker === null) {
      const user = this.host.process({ name: 'missing files' });
      this.maker = { user, thread: user.thread() };
    }
    const { thread } = this.maker;
    yield* makeParents(thread, path.endsWith('/') ? path : `${path}/`);
    return thread;
  }

  private note(call: TracedCall, recorded: string, found: string): void {
    const text = `${call.name}(${call.arguments.join(', ')})`.slice(0, SHOWN);
    this.stats.of(call.name).different++;
    this.stats.differs({ line: call.line, pid: call.pid, call: text, recorded, found });
  }
}

/** @throws FsError before a file is begun that cannot be. */
function* checkRoom(thread: Thread, path: string, size: number): Task<void> {
  if (!Number.isSafeInteger(size)) throw new FsError('EFBIG', `${path} of ${size} bytes`);
  const status: FsStatus = { blockBytes: 0, blocks: 0, free: 0, available: 0, inodes: 0, freeInodes: 0 };
  yield* done(thread.statfs('/', status));
  if (status.free * status.blockBytes < size) throw new FsError('ENOSPC', `${path} of ${size} bytes`);
}
