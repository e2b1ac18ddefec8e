import { Delay, type RandomStream, type Simulator, type Task } from '@flashstack/sim';
import type { FileSystem } from '../index.js';

/** Operations that may wait, and so get waits. */
const WAITING = [
  'lookup',
  'create',
  'link',
  'unlink',
  'rmdir',
  'rename',
  'readdir',
  'readlink',
  'setAttributes',
  'fallocate',
  'seek',
  'beginWrite',
  'readPages',
  'writePages',
  'direct',
  'fsync',
  'sync',
  'evict',
] as const;

/**
 * The same file system with random waits before and after every operation that may wait, so that the processes of a host
 * meet each other in the middle of their calls; without a stream each wait is an instant, which a scheduler can stretch.
 */
export function delayed(fileSystem: FileSystem, simulator: Simulator, random: RandomStream | null): FileSystem {
  const wait = (): Delay => new Delay(simulator).for(random === null ? 0 : random.below(3) * 1000);
  const slow = Object.create(fileSystem) as Record<string, unknown>;
  for (const name of WAITING) {
    slow[name] = function* (...args: unknown[]): Task<unknown> {
      yield wait();
      const call = fileSystem[name] as (...args: unknown[]) => unknown;
      const result = call.apply(fileSystem, args);
      const done = typeof result === 'number' ? result : yield* result as Task<unknown>;
      // The caller submits what it was told as soon as it is told, and counts bytes that are in the cache.
      if (name !== 'readPages' && name !== 'writePages') yield wait();
      return done;
    };
  }
  // What these change must be changed in the file system itself.
  for (const name of ['mount', 'unmount', 'daemons'] as const) slow[name] = fileSystem[name].bind(fileSystem);
  return slow as unknown as FileSystem;
}
