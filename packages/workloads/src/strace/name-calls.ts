import type { MaybeTask, Task } from '@flashstack/sim';
import { type DirectoryEntry, FileKind, FileStatus, FsError, RenameFlag } from '@flashstack/vfs';
import { done } from '../files/done.js';
import { flagsOf, hasFlag, numberOf, textOf } from './arguments.js';
import { type CallScene, type Place, placeOf, tracedPath, usable } from './call-scene.js';
import { Mark, type ReplayedCall, type ReplayedCalls } from './replayed-call.js';
import type { TracedCall } from './system-trace.js';

const accessNames: Readonly<Record<string, number>> = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 };
const renameNames: Readonly<Record<string, number>> = {
  RENAME_NOREPLACE: RenameFlag.noReplace,
  RENAME_EXCHANGE: RenameFlag.exchange,
};
const kindNames: Readonly<Record<string, number>> = {
  S_IFIFO: FileKind.fifo << 12,
  S_IFCHR: FileKind.characterDevice << 12,
  S_IFBLK: FileKind.blockDevice << 12,
  S_IFREG: FileKind.regular << 12,
  S_IFSOCK: FileKind.socket << 12,
};

/** A call on one path: `at` and `path` are the positions of its directory (−1: none) and of the path. */
function onPath(
  at: number,
  path: number,
  run: (scene: CallScene, call: TracedCall, place: Place) => MaybeTask,
  compares = false,
): ReplayedCall {
  return {
    path: [at, path],
    compares,
    *run(scene, call) {
      const place = placeOf(scene, call, at, path);
      return place === null ? Mark.outside : yield* done(run(scene, call, place));
    },
  };
}

/** A call on a path, or with an empty path (`AT_EMPTY_PATH`) or `NULL` on the descriptor in its place. */
function onPathOrDescriptor(
  run: (scene: CallScene, call: TracedCall, place: Place) => MaybeTask,
  onDescriptor: (scene: CallScene, call: TracedCall, fd: number, traced: string) => MaybeTask,
): ReplayedCall {
  return {
    path: [0, 1],
    *run(scene, call) {
      const text = textOf(call.arguments[1]);
      if (text !== null && text !== '') {
        const place = placeOf(scene, call, 0, 1);
        return place === null ? Mark.outside : yield* done(run(scene, call, place));
      }
      const found = usable(scene, call, 0);
      if (typeof found === 'number') return found;
      return yield* done(onDescriptor(scene, call, found.fd, found.path));
    },
  };
}

/** A call on two paths, at these positions. */
function onPaths(
  positions: readonly [number, number, number, number],
  run: (scene: CallScene, call: TracedCall, from: Place, to: Place) => MaybeTask,
): ReplayedCall {
  const [fromAt, fromPath, toAt, toPath] = positions;
  return {
    path: [fromAt, fromPath],
    *run(scene, call) {
      const from = placeOf(scene, call, fromAt, fromPath);
      const to = placeOf(scene, call, toAt, toPath);
      if (from === null && to === null) return Mark.outside;
      if (from === null || to === null) return Mark.unsupported;
      return yield* done(run(scene, call, from, to));
    },
  };
}

/** A query: the size it told of a regular file must be that of the replay. */
function* queried(scene: CallScene, call: TracedCall, status: FileStatus, result: MaybeTask): Task<number> {
  yield* done(result);
  const told = /S_IFREG.*st[x]?_size=(\d+)/.exec(call.arguments.join());
  if (told !== null && Number(told[1]) !== status.size) scene.note(call, `size ${told[1]}`, `size ${status.size}`);
  return 0;
}

function* queriedAt(scene: CallScene, call: TracedCall, place: Place, ofLink: boolean): Task<number> {
  const { thread } = scene;
  const status = new FileStatus();
  try {
    const result = ofLink ? thread.lstat(place.path, status, place.at) : thread.stat(place.path, status, place.at);
    return yield* queried(scene, call, status, result);
  } catch (error) {
    if (!(error instanceof FsError && error.code === 'ENOENT') || !(yield* scene.make(place))) throw error;
    return yield* queried(scene, call, status, thread.lstat(place.path, status, place.at));
  }
}

const stats = onPathOrDescriptor(
  (scene, call, place) => queriedAt(scene, call, place, /AT_SYMLINK_NOFOLLOW/.test(call.arguments.join())),
  (scene, call, fd) => {
    const status = new FileStatus();
    return queried(scene, call, status, scene.thread.fstat(fd, status));
  },
);

/** Lists as many entries as the trace did; how many come at once is the host's. */
function* listed(scene: CallScene, call: TracedCall): Task<number> {
  const found = usable(scene, call, 0);
  if (typeof found === 'number') return found;
  const told = /\/\* (\d+) entries \*\//.exec(call.arguments.join());
  const wanted = told === null ? 0 : Number(told[1]);
  const entries: DirectoryEntry[] = [];
  while (!found.listedAll && (wanted === 0 || found.ahead < wanted)) {
    entries.length = 0;
    const count = yield* done(scene.thread.readdir(found.fd, entries));
    found.ahead += count;
    found.listedAll = count === 0;
  }
  const right = wanted === 0 ? found.ahead === 0 : found.ahead >= wanted;
  if (!right) scene.note(call, `${wanted} entries`, `${found.ahead} entries`);
  found.ahead = wanted === 0 ? 0 : Math.max(0, found.ahead - wanted);
  return 0;
}

type Time = readonly [number, number] | null;

/** The two times of `utimensat`; what is not shown, `UTIME_NOW` and `UTIME_OMIT` are the present. */
function timesOf(argument: string | undefined): readonly [Time, Time] {
  const times = [...(argument ?? '').matchAll(/\{tv_sec=(-?\d+)[^,]*, tv_nsec=(\d+)\}|UTIME_(?:NOW|OMIT)/g)];
  const time = (found: RegExpMatchArray | undefined): Time =>
    found?.[1] === undefined ? null : [Number(found[1]), Number(found[2])];
  return [time(times[0]), time(times[1])];
}

function* timesSet(scene: CallScene, call: TracedCall, path: string, at: number | undefined): Task<number> {
  const status = new FileStatus();
  if (hasFlag(call.arguments[3], 'AT_SYMLINK_NOFOLLOW')) {
    yield* done(scene.thread.lstat(path, status, at));
    if (status.mode >> 12 === FileKind.symlink) return Mark.unsupported;
  }
  const [accessed, modified] = timesOf(call.arguments[2]);
  return yield* done(scene.thread.utimens(path, accessed, modified, at));
}

const renames = (flags: (call: TracedCall) => number): ReplayedCall =>
  onPaths([0, 1, 2, 3], (scene, call, from, to) => {
    const value = flags(call);
    return value < 0 ? Mark.unsupported : scene.thread.rename(from.path, to.path, value, from.at, to.at);
  });

function owned(scene: CallScene, call: TracedCall, place: Place, shift: number, ofLink: boolean): MaybeTask {
  const [uid, gid] = [numberOf(call.arguments[shift]), numberOf(call.arguments[shift + 1])];
  const { thread } = scene;
  return ofLink ? thread.lchown(place.path, uid, gid, place.at) : thread.chown(place.path, uid, gid, place.at);
}

function nodeMade(scene: CallScene, call: TracedCall, place: Place, shift: number): MaybeTask {
  const mode = flagsOf(call.arguments[shift], kindNames);
  const device = /makedev\((0x[0-9a-f]+), (0x[0-9a-f]+)\)/.exec(call.arguments[shift + 1] ?? '');
  const number = device === null ? 0 : Number(device[1]) * 256 + Number(device[2]);
  return mode < 0 ? Mark.unsupported : scene.thread.mknod(place.path, mode, number, place.at);
}

function* moved(scene: CallScene, to: string): Task<number> {
  const { process, root, thread } = scene;
  process.directory = to;
  return root.contains(to) ? yield* done(thread.chdir(root.map(to))) : Mark.outside;
}

function* directoryTold(scene: CallScene, call: TracedCall): Task<number> {
  const told = textOf(call.arguments[0]);
  if (told?.startsWith('/') && told !== scene.process.directory) yield* moved(scene, told);
  return scene.root.contains(scene.process.directory) ? Mark.noEffect : Mark.outside;
}

const accesses = onPath(0, 1, (scene, call, place) => {
  return scene.thread.access(place.path, flagsOf(call.arguments[2], accessNames), place.at);
});
const removes = (directory: (call: TracedCall) => boolean, at: number, path: number): ReplayedCall =>
  onPath(at, path, (scene, call, place) =>
    directory(call) ? scene.thread.rmdir(place.path, place.at) : scene.thread.unlink(place.path, place.at),
  );
const linksMade = (positions: readonly [number, number, number, number]): ReplayedCall =>
  onPaths(positions, (scene, call, from, to) =>
    // A descriptor in place of the old name, as after O_TMPFILE, has no counterpart.
    textOf(call.arguments[positions[1]]) === ''
      ? Mark.unsupported
      : scene.thread.link(from.path, to.path, from.at, to.at),
  );
const symlinksMade = (at: number, path: number): ReplayedCall =>
  onPath(at, path, (scene, call, place) => scene.thread.symlink(textOf(call.arguments[0]) ?? '', place.path, place.at));
const targetsRead = (at: number, path: number): ReplayedCall =>
  onPath(
    at,
    path,
    function* (scene, call, place) {
      const target = yield* scene.thread.readlink(place.path, place.at);
      return Math.min(target.length, numberOf(call.arguments[path + 2]));
    },
    true,
  );
const getDirectoryEntries: ReplayedCall = { run: listed };

/** Calls that look up and change names, attributes and directories. */
export const nameCalls: ReplayedCalls = {
  stat: onPath(-1, 0, (scene, call, place) => queriedAt(scene, call, place, false)),
  lstat: onPath(-1, 0, (scene, call, place) => queriedAt(scene, call, place, true)),
  fstat: {
    *run(scene, call) {
      const found = usable(scene, call, 0);
      if (typeof found === 'number') return found;
      const status = new FileStatus();
      return yield* queried(scene, call, status, scene.thread.fstat(found.fd, status));
    },
  },
  newfstatat: stats,
  fstatat64: stats,
  statx: stats,
  access: onPath(-1, 0, (scene, call, place) => {
    return scene.thread.access(place.path, flagsOf(call.arguments[1], accessNames), place.at);
  }),
  faccessat: accesses,
  faccessat2: accesses,
  mkdir: onPath(-1, 0, (scene, call, place) => scene.thread.mkdir(place.path, numberOf(call.arguments[1]), place.at)),
  mkdirat: onPath(0, 1, (scene, call, place) => scene.thread.mkdir(place.path, numberOf(call.arguments[2]), place.at)),
  rmdir: removes(() => true, -1, 0),
  unlink: removes(() => false, -1, 0),
  unlinkat: removes((call) => hasFlag(call.arguments[2], 'AT_REMOVEDIR'), 0, 1),
  mknod: onPath(-1, 0, (scene, call, place) => nodeMade(scene, call, place, 1)),
  mknodat: onPath(0, 1, (scene, call, place) => nodeMade(scene, call, place, 2)),
  rename: onPaths([-1, 0, -1, 1], (scene, _, from, to) => scene.thread.rename(from.path, to.path, 0, from.at, to.at)),
  renameat: renames(() => 0),
  renameat2: renames((call) => flagsOf(call.arguments[4], renameNames)),
  link: linksMade([-1, 0, -1, 1]),
  linkat: linksMade([0, 1, 2, 3]),
  symlink: symlinksMade(-1, 1),
  symlinkat: symlinksMade(1, 2),
  readlink: targetsRead(-1, 0),
  readlinkat: targetsRead(0, 1),
  chmod: onPath(-1, 0, (scene, call, place) => scene.thread.chmod(place.path, numberOf(call.arguments[1]), place.at)),
  fchmodat: onPath(0, 1, (scene, call, place) => scene.thread.chmod(place.path, numberOf(call.arguments[2]), place.at)),
  fchmod: descriptorChanged((scene, call, fd) => scene.thread.fchmod(fd, numberOf(call.arguments[1]))),
  chown: onPath(-1, 0, (scene, call, place) => owned(scene, call, place, 1, false)),
  lchown: onPath(-1, 0, (scene, call, place) => owned(scene, call, place, 1, true)),
  fchown: descriptorChanged((scene, call, fd) => {
    return scene.thread.fchown(fd, numberOf(call.arguments[1]), numberOf(call.arguments[2]));
  }),
  fchownat: onPathOrDescriptor(
    (scene, call, place) => owned(scene, call, place, 2, hasFlag(call.arguments[4], 'AT_SYMLINK_NOFOLLOW')),
    (scene, call, fd) => scene.thread.fchown(fd, numberOf(call.arguments[2]), numberOf(call.arguments[3])),
  ),
  utimensat: onPathOrDescriptor(
    (scene, call, place) => timesSet(scene, call, place.path, place.at),
    (scene, call, _, traced) => timesSet(scene, call, scene.root.map(traced), undefined),
  ),
  getdents: getDirectoryEntries,
  getdents64: getDirectoryEntries,
  chdir: {
    path: [-1, 0],
    *run(scene, call) {
      const to = tracedPath(scene, call, -1, 0);
      return to === '' ? Mark.outside : yield* moved(scene, to);
    },
  },
  fchdir: {
    *run(scene, call) {
      const found = scene.process.descriptors[Number.parseInt(call.arguments[0], 10)];
      return found === undefined || found.path === '' ? Mark.outside : yield* moved(scene, found.path);
    },
  },
  getcwd: { run: directoryTold },
  umask: {
    // biome-ignore lint/correctness/useYield: a task that need not wait
    *run(scene, call) {
      scene.thread.umask(numberOf(call.arguments[0]));
      return Mark.noEffect;
    },
  },
  getxattr: onPath(-1, 0, function* (scene, call, place) {
    yield* scene.thread.getAttribute(place.path, textOf(call.arguments[1]) ?? '');
    return 0;
  }),
  listxattr: onPath(-1, 0, function* (scene, _, place) {
    yield* scene.thread.listAttributes(place.path);
    return 0;
  }),
  setxattr: onPath(-1, 0, (scene, call, place) => {
    // The value need not be shown; its length is.
    const value = new Uint8Array(numberOf(call.arguments[3]));
    return scene.thread.setAttribute(place.path, textOf(call.arguments[1]) ?? '', value);
  }),
  removexattr: onPath(-1, 0, (scene, call, place) => {
    return scene.thread.removeAttribute(place.path, textOf(call.arguments[1]) ?? '');
  }),
};

function descriptorChanged(run: (scene: CallScene, call: TracedCall, fd: number) => MaybeTask): ReplayedCall {
  return {
    *run(scene, call) {
      const found = usable(scene, call, 0);
      return typeof found === 'number' ? found : yield* done(run(scene, call, found.fd));
    },
  };
}
