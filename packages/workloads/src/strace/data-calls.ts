import type { Task } from '@flashstack/sim';
import { FallocateMode, FileAdvice, FileStatus, Seek, SyncRange } from '@flashstack/vfs';
import { done } from '../files/done.js';
import { flagsOf, hasFlag, numberOf } from './arguments.js';
import { type CallScene, placeOf, usable } from './call-scene.js';
import { Mark, type ReplayedCall, type ReplayedCalls } from './replayed-call.js';
import type { TracedCall } from './system-trace.js';

/** Linux moves no more than this in one call. */
const MOST_BYTES = 0x7ffff000;

const seekNames: Readonly<Record<string, number>> = {
  SEEK_SET: Seek.set,
  SEEK_CUR: Seek.current,
  SEEK_END: Seek.end,
  SEEK_DATA: Seek.data,
  SEEK_HOLE: Seek.hole,
};
const adviceNames: Readonly<Record<string, number>> = {
  POSIX_FADV_NORMAL: FileAdvice.normal,
  POSIX_FADV_RANDOM: FileAdvice.random,
  POSIX_FADV_SEQUENTIAL: FileAdvice.sequential,
  POSIX_FADV_WILLNEED: FileAdvice.willNeed,
  POSIX_FADV_DONTNEED: FileAdvice.dontNeed,
  POSIX_FADV_NOREUSE: FileAdvice.noReuse,
};
const allocateNames: Readonly<Record<string, number>> = {
  FALLOC_FL_KEEP_SIZE: FallocateMode.keepSize,
  FALLOC_FL_PUNCH_HOLE: FallocateMode.punchHole,
  FALLOC_FL_COLLAPSE_RANGE: FallocateMode.collapseRange,
  FALLOC_FL_ZERO_RANGE: FallocateMode.zeroRange,
  FALLOC_FL_INSERT_RANGE: FallocateMode.insertRange,
};
const syncNames: Readonly<Record<string, number>> = {
  SYNC_FILE_RANGE_WAIT_BEFORE: SyncRange.waitBefore,
  SYNC_FILE_RANGE_WRITE: SyncRange.write,
  SYNC_FILE_RANGE_WAIT_AFTER: SyncRange.waitAfter,
};

/** A call on the descriptor that its first argument names. */
function onDescriptor(
  run: (scene: CallScene, call: TracedCall, fd: number) => Task<number>,
  more: Omit<ReplayedCall, 'run'> = {},
): ReplayedCall {
  return {
    ...more,
    *run(scene, call) {
      const found = usable(scene, call, 0);
      return typeof found === 'number' ? found : yield* run(scene, call, found.fd);
    },
  };
}

/** The bytes asked for, or of a vector, whose lengths the trace need not show, what was moved. */
function lengthOf(call: TracedCall, vector: boolean): number {
  return vector ? call.result : Math.min(numberOf(call.arguments[2]), MOST_BYTES);
}

/** A write that was cut short is repeated as far as it came. */
function writtenOf(call: TracedCall, vector: boolean): number {
  return vector ? call.result : Math.min(numberOf(call.arguments[2]), call.result);
}

const reads = (vector: boolean): ReplayedCall =>
  onDescriptor((scene, call, fd) => done(scene.thread.read(fd, null, lengthOf(call, vector))), {
    compares: true,
    moves: 'read',
  });

/** With an offset as fourth argument; −1 stands for the cursor. */
const readsAt = (vector: boolean): ReplayedCall =>
  onDescriptor(
    (scene, call, fd) => {
      const offset = numberOf(call.arguments[3]);
      const length = lengthOf(call, vector);
      return done(offset < 0 ? scene.thread.read(fd, null, length) : scene.thread.pread(fd, null, length, offset));
    },
    { compares: true, moves: 'read' },
  );

const writes = (vector: boolean): ReplayedCall =>
  onDescriptor((scene, call, fd) => done(scene.thread.write(fd, null, writtenOf(call, vector))), {
    compares: true,
    moves: 'write',
  });

const writesAt = (vector: boolean): ReplayedCall =>
  onDescriptor(
    (scene, call, fd) => {
      const offset = numberOf(call.arguments[3]);
      const length = writtenOf(call, vector);
      return done(offset < 0 ? scene.thread.write(fd, null, length) : scene.thread.pwrite(fd, null, length, offset));
    },
    { compares: true, moves: 'write' },
  );

/** The offset that an argument such as `[4096]` or `[0] => [4096]` points to, −1 for `NULL`. */
function offsetAt(argument: string | undefined): number {
  const found = /^\[(\d+)/.exec(argument ?? '');
  return found === null ? -1 : Number(found[1]);
}

/** Bytes moved inside the kernel; if one side is no file below the root, the other is still read or written. */
function* copied(
  scene: CallScene,
  call: TracedCall,
  from: number,
  to: number,
  fromAt: number,
  toAt: number,
): Task<number> {
  const source = usable(scene, call, from);
  const target = usable(scene, call, to);
  const { thread } = scene;
  const length = Math.min(numberOf(call.arguments[call.name === 'sendfile' ? 3 : 4]), MOST_BYTES);
  if (source === Mark.lost || target === Mark.lost) return Mark.lost;
  if (typeof source === 'number') {
    if (typeof target === 'number') return Mark.outside;
    const { result } = call;
    return yield* done(toAt < 0 ? thread.write(target.fd, null, result) : thread.pwrite(target.fd, null, result, toAt));
  }
  if (typeof target === 'number') {
    const bytes = Math.min(length, call.result);
    return yield* done(fromAt < 0 ? thread.read(source.fd, null, bytes) : thread.pread(source.fd, null, bytes, fromAt));
  }
  return yield* done(thread.copyRange(source.fd, fromAt, target.fd, toAt, length));
}

function* mapped(scene: CallScene, call: TracedCall): Task<number> {
  const [, bytes, protection, flags] = call.arguments;
  const found = usable(scene, call, 4);
  if (typeof found === 'number') return found;
  const offset = numberOf(call.arguments[5]);
  const length = numberOf(bytes);
  const shared = hasFlag(flags, 'MAP_SHARED') || hasFlag(flags, 'MAP_SHARED_VALIDATE');
  const { thread } = scene;
  if (shared && hasFlag(protection, 'PROT_WRITE')) {
    if (scene.mappedWrites === 'ignore') return Mark.noEffect;
    const mapping = { address: call.result, length, fd: thread.dup(found.fd), offset };
    scene.process.mappings.push(mapping);
    if (scene.mappedWrites === 'all') yield* touched(scene, found.fd, offset, length, true);
    return 0;
  }
  if (!scene.mappedReads) return Mark.noEffect;
  yield* touched(scene, found.fd, offset, length, false);
  return 0;
}

/** Touches what of a range the file has. */
function* touched(scene: CallScene, fd: number, offset: number, length: number, write: boolean): Task<void> {
  const status = new FileStatus();
  yield* done(scene.thread.fstat(fd, status));
  const bytes = Math.min(length, status.size - offset);
  if (bytes > 0) yield* done(scene.thread.touch(fd, offset, bytes, write));
}

/** Every mapping that a range of addresses meets. */
function* synced(scene: CallScene, call: TracedCall): Task<number> {
  const address = numberOf(call.arguments[0]);
  const end = address + numberOf(call.arguments[1]);
  let result: number = Mark.outside;
  for (const mapping of [...scene.process.mappings]) {
    const from = Math.max(address, mapping.address);
    const length = Math.min(end, mapping.address + mapping.length) - from;
    if (length <= 0) continue;
    const offset = mapping.offset + from - mapping.address;
    if (scene.mappedWrites === 'sync') yield* touched(scene, mapping.fd, offset, length, true);
    if (call.name === 'msync') {
      if (hasFlag(call.arguments[2], 'MS_SYNC')) yield* done(scene.thread.msync(mapping.fd, offset, length));
    } else {
      scene.process.mappings = scene.process.mappings.filter((other) => other !== mapping);
      yield* done(scene.thread.close(mapping.fd));
    }
    result = 0;
  }
  return result;
}

/** Calls that read, write and sync files. */
export const dataCalls: ReplayedCalls = {
  read: reads(false),
  readv: reads(true),
  pread64: readsAt(false),
  preadv: readsAt(true),
  preadv2: readsAt(true),
  write: writes(false),
  writev: writes(true),
  pwrite64: writesAt(false),
  pwritev: writesAt(true),
  pwritev2: {
    *run(scene, call) {
      return /RWF_(?:D?SYNC|APPEND)/.test(call.arguments[4] ?? '') && typeof usable(scene, call, 0) !== 'number'
        ? Mark.unsupported
        : yield* writesAt(true).run(scene, call);
    },
    compares: true,
    moves: 'write',
  },
  lseek: onDescriptor(
    function* (scene, call, fd) {
      const whence = seekNames[call.arguments[2]];
      const found = usable(scene, call, 0);
      if (whence === undefined) return Mark.unsupported;
      if (typeof found !== 'number') {
        found.ahead = 0;
        found.listedAll = false;
      }
      return yield* done(scene.thread.lseek(fd, numberOf(call.arguments[1]), whence));
    },
    { compares: true },
  ),
  sendfile: {
    run: (scene, call) => copied(scene, call, 1, 0, offsetAt(call.arguments[2]), -1),
    compares: true,
    moves: 'copy',
  },
  copy_file_range: {
    run: (scene, call) => {
      const [, fromOffset, , toOffset] = call.arguments;
      return copied(scene, call, 0, 2, offsetAt(fromOffset), offsetAt(toOffset));
    },
    compares: true,
    moves: 'copy',
  },
  fsync: onDescriptor((scene, _, fd) => done(scene.thread.fsync(fd))),
  fdatasync: onDescriptor((scene, _, fd) => done(scene.thread.fdatasync(fd))),
  sync: { run: (scene) => done(scene.thread.sync()) },
  syncfs: onDescriptor((scene, _, fd) => done(scene.thread.syncFs(fd))),
  sync_file_range: onDescriptor(function* (scene, call, fd) {
    const [, offset, length, names] = call.arguments;
    const flags = flagsOf(names, syncNames);
    return flags < 0
      ? Mark.unsupported
      : yield* done(scene.thread.syncFileRange(fd, numberOf(offset), numberOf(length), flags));
  }),
  truncate: {
    path: [-1, 0],
    *run(scene, call) {
      const place = placeOf(scene, call, -1, 0);
      if (place === null) return Mark.outside;
      // The contract's truncate takes no directory: the path begins at the working directory or the root.
      return yield* done(scene.thread.truncate(place.path, numberOf(call.arguments[1])));
    },
  },
  ftruncate: onDescriptor((scene, call, fd) => done(scene.thread.ftruncate(fd, numberOf(call.arguments[1])))),
  fallocate: onDescriptor(function* (scene, call, fd) {
    const [, names, offset, length] = call.arguments;
    const mode = flagsOf(names, allocateNames);
    return mode < 0
      ? Mark.unsupported
      : yield* done(scene.thread.fallocate(fd, mode, numberOf(offset), numberOf(length)));
  }),
  fadvise64: onDescriptor(function* (scene, call, fd) {
    const [, offset, length, name] = call.arguments;
    const advice = adviceNames[name];
    return advice === undefined
      ? Mark.unsupported
      : yield* done(scene.thread.fadvise(fd, numberOf(offset), numberOf(length), advice));
  }),
  readahead: onDescriptor((scene, call, fd) =>
    done(scene.thread.readahead(fd, numberOf(call.arguments[1]), numberOf(call.arguments[2]))),
  ),
  mmap: { run: mapped },
  msync: { run: synced },
  munmap: { run: synced },
};
