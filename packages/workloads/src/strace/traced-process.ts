import type { Thread, UserProcess } from '@flashstack/vfs';

/** What a descriptor of a traced process stands for in the replay. */
export interface Descriptor {
  /** Descriptor in the replay; {@link OUTSIDE} or {@link LOST} if it has none. */
  readonly fd: number;
  /** Absolute path in the trace by which it was opened; empty if it has none, such as a pipe. */
  readonly path: string;
  closeOnExec: boolean;
  /** Directories: entries listed that the trace has not listed yet. */
  ahead: number;
  listedAll: boolean;
}

/** Not a file below the root: a library, pipe, socket, terminal. */
export const OUTSIDE = -1;
/** It should be open, but opening failed in the replay. */
export const LOST = -2;

/** A shared writable mapping, for `msync`. */
export interface SharedMapping {
  readonly address: number;
  readonly length: number;
  /** A descriptor of its own, since the program may close the one that it mapped. */
  readonly fd: number;
  readonly offset: number;
}

/** A thread of the trace and the one that stands for it. */
export interface TracedThread {
  readonly pid: number;
  readonly thread: Thread;
  readonly process: TracedProcess;
  /** End of its last call in the trace and in the replay, ns. */
  tracedEndNs: number;
  endNs: number;
}

/** A traced process (thread group): its descriptors and working directory, as the trace numbers and names them. */
export class TracedProcess {
  readonly user: UserProcess;
  /** By number in the trace. */
  readonly descriptors: (Descriptor | undefined)[] = [];
  /** Working directory in the trace, absolute. */
  directory: string;
  mappings: SharedMapping[] = [];
  threads = 0;

  constructor(user: UserProcess, directory: string) {
    this.user = user;
    this.directory = directory;
  }

  /** A child: the same descriptors and directory. Mappings stay with the parent, which made them. */
  fork(pid: number): TracedProcess {
    const child = new TracedProcess(this.user.fork(`pid ${pid}`), this.directory);
    for (const [fd, descriptor] of this.descriptors.entries()) {
      if (descriptor !== undefined) child.descriptors[fd] = { ...descriptor };
    }
    return child;
  }

  /** Says what a number stands for from now on; returns what it stood for, if that must be closed. */
  set(fd: number, descriptor: Descriptor): Descriptor | undefined {
    const before = this.descriptors[fd];
    this.descriptors[fd] = descriptor;
    return before;
  }
}
