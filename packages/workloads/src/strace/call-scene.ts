import type { Task } from '@flashstack/sim';
import { AT_WORKING_DIRECTORY, type Thread } from '@flashstack/vfs';
import { annotation, descriptorOf, textOf } from './arguments.js';
import { Mark } from './replayed-call.js';
import type { TracedCall } from './system-trace.js';
import { joined, type TraceRoot } from './trace-root.js';
import { type Descriptor, LOST, OUTSIDE, type TracedProcess, type TracedThread } from './traced-process.js';

/** Where a path of the trace lies on the simulated host. */
export interface Place {
  readonly path: string;
  readonly at: number;
  /** The absolute path in the trace. */
  readonly traced: string;
}

/** What the replay of a call works with: its thread, and how to find what it names. */
export interface CallScene {
  readonly root: TraceRoot;
  readonly actor: TracedThread;
  readonly thread: Thread;
  readonly process: TracedProcess;
  /** Whether mappings count as reads and writes of what they cover. */
  readonly mappedReads: boolean;
  readonly mappedWrites: 'ignore' | 'sync' | 'all';
  /**
   * What numbers stand for once the call has ended in the trace: not before, since until then the number may still be
   * another descriptor's, which another thread is closing.
   */
  readonly assignments: { readonly fd: number; readonly to: Descriptor }[];
  /** Reports that a call went otherwise than recorded. */
  note(call: TracedCall, recorded: string, found: string): void;
  /** Makes a file or directory that the trace takes for granted; false if that was not asked for. */
  make(place: Place): Task<boolean>;
}

/** The descriptor of the trace that the argument names, if it can be used; otherwise a {@link Mark}. */
export function usable(scene: CallScene, call: TracedCall, index: number): Descriptor | number {
  const found = scene.process.descriptors[descriptorOf(call.arguments[index])];
  if (found === undefined || found.fd === OUTSIDE) return Mark.outside;
  return found.fd === LOST ? Mark.lost : found;
}

/** The absolute path in the trace of a path argument, empty if it cannot be known. `at`: position of the directory, or −1. */
export function tracedPath(scene: CallScene, call: TracedCall, at: number, path: number): string {
  const text = textOf(call.arguments[path]);
  if (text === null) return '';
  if (text.startsWith('/')) return text;
  const start = startOf(scene, call, at);
  return start === '' ? '' : joined(start, text);
}

function startOf(scene: CallScene, call: TracedCall, at: number): string {
  const argument = at < 0 ? 'AT_FDCWD' : call.arguments[at];
  if (argument.startsWith('AT_FDCWD')) return scene.process.directory;
  return scene.process.descriptors[descriptorOf(argument)]?.path ?? annotation(argument);
}

/** Where a path argument lies on the host, or null if it is not below the root. */
export function placeOf(scene: CallScene, call: TracedCall, at: number, path: number): Place | null {
  const traced = tracedPath(scene, call, at, path);
  if (traced === '' || !scene.root.contains(traced)) return null;
  const text = textOf(call.arguments[path]) as string;
  if (!text.startsWith('/') && text !== '') {
    const argument = at < 0 ? 'AT_FDCWD' : call.arguments[at];
    // Relative paths stay relative, since directories may be moved while they are open or worked in.
    if (argument.startsWith('AT_FDCWD')) {
      if (scene.root.contains(scene.process.directory)) return { path: text, at: AT_WORKING_DIRECTORY, traced };
    } else {
      const start = scene.process.descriptors[descriptorOf(argument)];
      if (start !== undefined && start.fd >= 0) return { path: text, at: start.fd, traced };
    }
  }
  return { path: scene.root.map(traced), at: AT_WORKING_DIRECTORY, traced };
}
