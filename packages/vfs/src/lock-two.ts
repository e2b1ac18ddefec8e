import type { Task } from '@flashstack/sim';
import type { Inode } from './inode.js';

/**
 * Takes the locks of two directories exclusively, in the order that all must keep: `first` is an ancestor of `second`, or
 * neither is the other's and the caller gives the one with the smaller number first. One lock if they are the same.
 */
export function* lockTwo(first: Inode, second: Inode): Task<void> {
  if (!first.lock.tryWrite()) yield first.lock.write;
  if (first !== second && !second.lock.tryWrite()) yield second.lock.write;
}

/** Gives up what `lockTwo` took. */
export function unlockTwo(first: Inode, second: Inode): void {
  first.lock.unlockWrite();
  if (first !== second) second.lock.unlockWrite();
}
