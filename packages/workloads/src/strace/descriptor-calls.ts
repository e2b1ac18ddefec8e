import type { Task } from '@flashstack/sim';
import { FsError, OpenFlag } from '@flashstack/vfs';
import { done } from '../files/done.js';
import { descriptorOf, flagsOf, hasFlag, numberOf } from './arguments.js';
import { type CallScene, placeOf, tracedPath } from './call-scene.js';
import { Mark, type ReplayedCall, type ReplayedCalls } from './replayed-call.js';
import type { TracedCall } from './system-trace.js';
import { type Descriptor, LOST, OUTSIDE } from './traced-process.js';

const openFlags: Readonly<Record<string, number>> = {
  O_RDONLY: OpenFlag.readOnly,
  O_WRONLY: OpenFlag.writeOnly,
  O_RDWR: OpenFlag.readWrite,
  O_CREAT: OpenFlag.create,
  O_EXCL: OpenFlag.exclusive,
  O_TRUNC: OpenFlag.truncate,
  O_APPEND: OpenFlag.append,
  O_NONBLOCK: OpenFlag.nonBlock,
  O_DSYNC: OpenFlag.dataSync,
  O_SYNC: OpenFlag.sync,
  O_RSYNC: OpenFlag.sync,
  O_DIRECT: OpenFlag.direct,
  O_DIRECTORY: OpenFlag.directory,
  O_NOFOLLOW: OpenFlag.noFollow,
  O_NOATIME: OpenFlag.noAccessTime,
  O_CLOEXEC: OpenFlag.closeOnExec,
  O_PATH: OpenFlag.path,
  O_TMPFILE: OpenFlag.temporary,
  // Without an effect on files.
  O_NOCTTY: 0,
  O_LARGEFILE: 0,
  O_ASYNC: 0,
};

function descriptor(fd: number, path: string, closeOnExec: boolean): Descriptor {
  return { fd, path, closeOnExec, ahead: 0, listedAll: false };
}

/** Carries out what a call that has ended in the trace assigned, and closes what nothing said would be replaced. */
export function* assigned(scene: CallScene): Task<void> {
  for (const { fd, to } of scene.assignments) {
    const before = scene.process.set(fd, to);
    if (before !== undefined && before.fd >= 0) yield* done(scene.thread.close(before.fd));
  }
}

function assign(scene: CallScene, fd: number, to: Descriptor): void {
  scene.assignments.push({ fd, to });
}

function* opened(
  scene: CallScene,
  call: TracedCall,
  at: number,
  path: number,
  flags: number,
  mode: number,
): Task<number> {
  const place = placeOf(scene, call, at, path);
  const closeOnExec = (flags & OpenFlag.closeOnExec) !== 0;
  if (place === null) {
    assign(scene, call.result, descriptor(OUTSIDE, tracedPath(scene, call, at, path), closeOnExec));
    return Mark.outside;
  }
  if (flags < 0) {
    assign(scene, call.result, descriptor(LOST, place.traced, closeOnExec));
    return Mark.unsupported;
  }
  let fd = LOST;
  try {
    fd = yield* done(scene.thread.open(place.path, flags, mode, place.at));
  } catch (error) {
    const absent = error instanceof FsError && error.code === 'ENOENT' && (flags & OpenFlag.create) === 0;
    if (!absent || !(yield* scene.make(place))) throw error;
    fd = yield* done(scene.thread.open(place.path, flags, mode, place.at));
  } finally {
    assign(scene, call.result, descriptor(fd, place.traced, closeOnExec));
  }
  return 0;
}

function* closed(scene: CallScene, fd: number): Task<number> {
  const found = scene.process.descriptors[fd];
  if (found === undefined) return Mark.outside;
  // Before the first wait: another thread may be given the number as soon as the call has begun.
  scene.process.descriptors[fd] = undefined;
  if (found.fd < 0) return found.fd === LOST ? Mark.lost : Mark.outside;
  return yield* done(scene.thread.close(found.fd));
}

// biome-ignore lint/correctness/useYield: a task that need not wait
function* duplicated(scene: CallScene, call: TracedCall, closeOnExec: boolean): Task<number> {
  const from = scene.process.descriptors[descriptorOf(call.arguments[0])];
  if (descriptorOf(call.arguments[0]) === call.result) return Mark.outside;
  const inside = from !== undefined && from.fd >= 0;
  const fd = inside ? scene.thread.dup(from.fd) : (from?.fd ?? OUTSIDE);
  assign(scene, call.result, descriptor(fd, from?.path ?? '', closeOnExec));
  if (inside) return 0;
  return fd === LOST ? Mark.lost : Mark.outside;
}

function* controlled(scene: CallScene, call: TracedCall): Task<number> {
  const command = call.arguments[1];
  if (command === 'F_DUPFD') return yield* duplicated(scene, call, false);
  if (command === 'F_DUPFD_CLOEXEC') return yield* duplicated(scene, call, true);
  const found = scene.process.descriptors[descriptorOf(call.arguments[0])];
  if (command === 'F_SETFD' && found !== undefined) found.closeOnExec = hasFlag(call.arguments[2], 'FD_CLOEXEC');
  if (found === undefined || found.fd === OUTSIDE) return Mark.outside;
  const changes = command === 'F_SETFL' && /O_(APPEND|DIRECT)\b/.test(call.arguments[2] ?? '');
  return changes ? Mark.unsupported : Mark.noEffect;
}

/** A call whose result is a descriptor that is no file of a file system. */
const produces: ReplayedCall = {
  // biome-ignore lint/correctness/useYield: a task that need not wait
  *run(scene, call) {
    assign(scene, call.result, descriptor(OUTSIDE, '', /CLOEXEC/.test(call.arguments.join())));
    return Mark.outside;
  },
};

/** A call that fills in two descriptors that are no files. */
const producesPair: ReplayedCall = {
  // biome-ignore lint/correctness/useYield: a task that need not wait
  *run(scene, call) {
    for (const argument of call.arguments) {
      const pair = /^\[(\d+)(?:<[^\]]*>)?, (\d+)/.exec(argument);
      if (pair === null) continue;
      const closeOnExec = /CLOEXEC/.test(call.arguments.join());
      assign(scene, Number(pair[1]), descriptor(OUTSIDE, '', closeOnExec));
      assign(scene, Number(pair[2]), descriptor(OUTSIDE, '', closeOnExec));
    }
    return Mark.outside;
  },
};

/** Calls that make, copy and close descriptors. */
export const descriptorCalls: ReplayedCalls = {
  open: {
    path: [-1, 0],
    run: (scene, call) => {
      const [, flags, mode] = call.arguments;
      return opened(scene, call, -1, 0, flagsOf(flags, openFlags), modeOf(mode));
    },
  },
  openat: {
    path: [0, 1],
    run: (scene, call) => {
      const [, , flags, mode] = call.arguments;
      return opened(scene, call, 0, 1, flagsOf(flags, openFlags), modeOf(mode));
    },
  },
  creat: {
    path: [-1, 0],
    run: (scene, call) => {
      const flags = OpenFlag.writeOnly | OpenFlag.create | OpenFlag.truncate;
      return opened(scene, call, -1, 0, flags, modeOf(call.arguments[1]));
    },
  },
  close: { run: (scene, call) => closed(scene, descriptorOf(call.arguments[0])) },
  close_range: {
    *run(scene, call) {
      const last = Math.min(numberOf(call.arguments[1]), scene.process.descriptors.length - 1);
      let result: number = Mark.outside;
      for (let fd = numberOf(call.arguments[0]); fd <= last; fd++) {
        const found = scene.process.descriptors[fd];
        if (found === undefined) continue;
        if (hasFlag(call.arguments[2], 'CLOSE_RANGE_CLOEXEC')) found.closeOnExec = true;
        else result = Math.max(result, yield* closed(scene, fd));
      }
      return result;
    },
  },
  dup: { run: (scene, call) => duplicated(scene, call, false) },
  dup2: { run: (scene, call) => duplicated(scene, call, false) },
  dup3: { run: (scene, call) => duplicated(scene, call, hasFlag(call.arguments[2], 'O_CLOEXEC')) },
  fcntl: { run: controlled },
  fcntl64: { run: controlled },
  execve: {
    *run(scene) {
      for (const [fd, found] of scene.process.descriptors.entries()) if (found?.closeOnExec) yield* closed(scene, fd);
      yield* unmapped(scene);
      return Mark.outside;
    },
  },
  pipe: producesPair,
  pipe2: producesPair,
  socketpair: producesPair,
  ...Object.fromEntries(
    [
      ...['socket', 'accept', 'accept4', 'epoll_create', 'epoll_create1', 'eventfd', 'eventfd2', 'signalfd'],
      ...['signalfd4', 'timerfd_create', 'inotify_init', 'inotify_init1', 'memfd_create', 'pidfd_open'],
      ...['io_uring_setup', 'perf_event_open', 'userfaultfd', 'fanotify_init', 'mq_open', 'memfd_secret'],
    ].map((name) => [name, produces]),
  ),
};

/** Forgets the shared mappings of a process, as its end and `execve` do. */
export function* unmapped(scene: Pick<CallScene, 'process' | 'thread'>): Task<void> {
  const mappings = scene.process.mappings;
  scene.process.mappings = [];
  for (const { fd } of mappings) yield* done(scene.thread.close(fd));
}

function modeOf(argument: string | undefined): number {
  return argument === undefined ? 0o666 : numberOf(argument);
}

/** Opens a file that the program had open before the trace began, by the path that `-y` shows. */
export function* attached(scene: CallScene, fd: number, traced: string): Task<void> {
  const path = scene.root.map(traced);
  let found = LOST;
  for (const flags of [OpenFlag.readWrite, OpenFlag.readOnly]) {
    try {
      found = yield* done(scene.thread.open(path, flags));
      break;
    } catch (error) {
      // A directory can only be read; what cannot be opened at all is lost, and counted with each call on it.
      if (!(error instanceof FsError)) throw error;
    }
  }
  scene.process.set(fd, descriptor(found, traced, false));
}
