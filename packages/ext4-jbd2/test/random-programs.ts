import { Delay, type RandomStream, type Simulator, type Task } from '@flashstack/sim';
import { FsError, OpenFlag, type Thread } from '@flashstack/vfs';

const { create, readWrite } = OpenFlag;
const LONG = 'x'.repeat(200);
const NAMES = ['/a', '/b', '/d', '/d/a', '/d/b', '/e', '/e/a', `/d/${LONG}`];
const MODES = [0, 1, 3, 16, 17, 8, 32];
const PAGE = 4096;

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

function pathOf(random: RandomStream): string {
  return random.below(4) === 0 ? `/d/n${random.below(300)}` : NAMES[random.below(NAMES.length)];
}

function* withFile(thread: Thread, path: string, flags: number, use: (fd: number) => Task<void>): Task<void> {
  const fd = yield* go(thread.open(path, flags, 0o644));
  try {
    yield* use(fd);
  } finally {
    yield* go(thread.close(fd));
  }
}

function* operation(thread: Thread, random: RandomStream, at: number, simulator: Simulator): Task<void> {
  const path = pathOf(random);
  switch (random.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return yield* withFile(thread, path, create | readWrite, function* (fd) {
        const length = 1 + random.below(30_000);
        const offset = random.below(3) * random.below(200_000);
        yield* go(thread.pwrite(fd, new Uint8Array(length).fill(at), length, offset));
        if (random.below(3) === 0) yield* go(thread.fsync(fd));
      });
    case 4:
      return void (yield* go(thread.mkdir(random.below(2) === 0 ? '/d' : '/e', 0o755)));
    case 5:
      return void (yield* go(thread.rmdir(path)));
    case 6:
    case 7:
      return void (yield* go(thread.unlink(path)));
    case 8:
      return void (yield* go(thread.rename(path, pathOf(random))));
    case 9:
      return void (yield* go(thread.link(path, pathOf(random))));
    case 10:
      return void (yield* go(thread.truncate(path, random.below(300_000))));
    case 11:
      return void (yield* go(thread.symlink('y'.repeat(1 + random.below(150)), path)));
    case 12:
      return void (yield* go(
        thread.setAttribute(path, `user.${random.below(4)}`, new Uint8Array(random.below(600)).fill(7)),
      ));
    case 13:
      return yield* withFile(thread, path, readWrite, function* (fd) {
        const mode = MODES[random.below(MODES.length)];
        yield* go(thread.fallocate(fd, mode, PAGE * random.below(40), PAGE * (1 + random.below(20))));
      });
    case 14:
      return void (yield* go(thread.mknod(path, 0o10644, 0)));
    default:
      if (random.below(5) === 0) yield* go(thread.sync());
      else yield new Delay(simulator).for(random.below(3_000_000_000));
  }
}

/** A program of random operations; those that cannot be are refused, and it goes on. */
export function* randomProgram(thread: Thread, random: RandomStream, steps: number, simulator: Simulator): Task<void> {
  for (let at = 0; at < steps; at++) {
    try {
      yield* operation(thread, random, at, simulator);
    } catch (error) {
      if (!(error instanceof FsError) || error.code === 'EUCLEAN' || error.code === 'EROFS' || error.code === 'EIO')
        throw error;
    }
  }
}
