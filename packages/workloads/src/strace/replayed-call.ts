import type { Task } from '@flashstack/sim';
import type { CallScene } from './call-scene.js';
import type { TracedCall } from './system-trace.js';

/** What became of a call that has no result to compare: the other results are 0 and above. */
export const Mark = {
  /** It has nothing to do with files below the root. */
  outside: -1,
  /** It is about a file below the root, and changes and reads nothing. */
  noEffect: -2,
  /** It is about a file below the root, and the replay cannot carry it out. */
  unsupported: -3,
  /** Its descriptor could not be opened in the replay. */
  lost: -4,
} as const;

/** How the calls of one name are carried out again. */
export interface ReplayedCall {
  /** Carries it out: the result, or a {@link Mark}. Failures are thrown as `FsError`. */
  run(scene: CallScene, call: TracedCall): Task<number>;
  /** The result has to be the recorded one. */
  readonly compares?: boolean;
  /** The result is a number of bytes that were moved so. */
  readonly moves?: 'read' | 'write' | 'copy';
  /** Positions of the directory (−1: none) and the path among the arguments: what a recorded failure looks up. */
  readonly path?: readonly [number, number];
}

/** Replayed calls by name. */
export type ReplayedCalls = Readonly<Record<string, ReplayedCall>>;
