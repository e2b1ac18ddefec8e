import type { Task } from '@flashstack/sim';
import { FsError, type Thread } from '@flashstack/vfs';
import { done } from './done.js';

/** Makes the directories on the way to a file that are not there yet, as `mkdir -p` does. @throws FsError */
export function* makeParents(thread: Thread, path: string): Task<void> {
  for (let end = path.indexOf('/', 1); end >= 0; end = path.indexOf('/', end + 1)) {
    try {
      yield* done(thread.mkdir(path.slice(0, end), 0o755));
    } catch (error) {
      if (!(error instanceof FsError && error.code === 'EEXIST')) throw error;
    }
  }
}
