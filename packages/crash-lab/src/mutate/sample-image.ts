import { Host } from '@flashstack/host';
import { type MaybeTask, runTask, Simulator, type Task } from '@flashstack/sim';
import { OpenFlag, SimplePageCache, type Thread } from '@flashstack/vfs';
import type { CrashSubject } from '../subject.js';
import { OverlayDevice } from './overlay-device.js';

const { create, writeOnly } = OpenFlag;
const UNLIMITED = { requests: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
const BLOCK = 4096;

/**
 * A volume of a subject with some of everything: directories in each other and one of many names, files with holes and of
 * many pieces, links, attributes where they are kept. Unmounted, or as a power cut after a sync leaves it.
 * @throws whatever the file system throws, ENOSPC if the volume is too small.
 */
export function sampleImage(subject: CrashSubject, unmounted: boolean): Uint8Array {
  const device = new OverlayDevice(new Uint8Array(subject.blocks * BLOCK), UNLIMITED);
  runTask(new Simulator(), subject.scheme.format(device), 'format');
  use(subject, device, fill, true);
  use(subject, device, change, unmounted);
  return device.read(0, device.length);
}

/** Mounts the volume, runs a program, and unmounts or has a power cut. */
function use(
  subject: CrashSubject,
  device: OverlayDevice,
  program: (thread: Thread, attributes: boolean) => Task<void>,
  unmount: boolean,
): void {
  const simulator = new Simulator();
  const host = new Host({
    simulator,
    cache: new SimplePageCache(simulator, device),
    fileSystem: (environment) => subject.scheme.open(device, environment),
  });
  host.run(host.mount());
  const process = host.process({ umask: 0 });
  host.run(program(process.thread(), host.fileSystem.capabilities.attributeBytes > 0));
  host.run(process.exit());
  if (unmount) host.run(host.unmount());
  else host.cutPower();
}

function* fill(thread: Thread, attributes: boolean): Task<void> {
  yield* wait(thread.mkdir('a', 0o755));
  yield* wait(thread.mkdir('a/b', 0o700));
  yield* wait(thread.mkdir('many', 0o755));
  for (let at = 0; at < 24; at++) yield* file(thread, `many/${'n'.repeat(8 + ((at * 37) % 200))}${at}`, [at % 2]);
  yield* file(thread, 'a/pieces', [0, 2, 4, 6, 8, 10, 12, 14, 20, 40]);
  yield* file(thread, 'a/b/far', [0, 5, 1100]);
  yield* wait(thread.link('a/pieces', 'second'));
  yield* wait(thread.symlink('a/pieces', 'short'));
  yield* wait(thread.symlink('x/'.repeat(60), 'a/long'));
  if (attributes) {
    yield* wait(thread.setAttribute('a/pieces', 'user.small', new Uint8Array(10).fill(65)));
    yield* wait(thread.setAttribute('a/b/far', 'user.large', new Uint8Array(2_000).fill(66)));
  }
}

/** What is in the log if the power is cut then. */
function* change(thread: Thread): Task<void> {
  yield* wait(thread.unlink('second'));
  yield* file(thread, 'a/last', [0, 1]);
  yield* wait(thread.rename('a/last', 'a/b/last'));
  yield* wait(thread.sync());
}

/** A file with 3,000 bytes in each of these pages, each written back by itself so that they lie apart. */
function* file(thread: Thread, path: string, pages: readonly number[]): Task<void> {
  const fd = yield* wait(thread.open(path, create | writeOnly, 0o644));
  for (const page of pages) {
    yield* wait(thread.pwrite(fd, new Uint8Array(3_000).fill(1 + (page % 250)), 3_000, page * BLOCK));
    if (pages.length > 2) yield* wait(thread.fdatasync(fd));
  }
  yield* wait(thread.close(fd));
}

function* wait(call: MaybeTask): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}
