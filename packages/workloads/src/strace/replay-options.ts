import { unknownName } from '@flashstack/sim';
import { ReplayError, ReplayErrorCode, wrongOption } from '../replay-error.js';

/**
 * Which calls wait for which.
 * - `trace` (default): a call begins when all that had ended before it in the trace have ended in the replay, so that what
 *   ran side by side still may.
 * - `threads`: each thread replays on its own, and its calls wait for those of other threads only where they share a
 *   descriptor's number, a cursor, a file, a name or a directory above it, or where one makes or awaits the other.
 */
export type TraceOrder = 'trace' | 'threads';

/**
 * When recorded calls begin, besides that they come in their order.
 * - `closed` (default): as soon as that is so.
 * - `think`: and no sooner after the call before it of its thread than recorded, times `timeScale`.
 * - `open`: and no sooner than at its recorded time, times `timeScale`.
 */
export type TracePace = 'closed' | 'think' | 'open';

/** How a trace of system calls is replayed. */
export interface SystemReplayOptions {
  /** The directory of the traced machine whose files are replayed, such as `/mnt/bench`. Others are left alone. */
  readonly root: string;
  /** What stands for it on the simulated host. Default `/`. */
  readonly target?: string;
  /** Working directory in the trace where it began. Default `root`. */
  readonly directory?: string;
  /** Default `trace`. */
  readonly order?: TraceOrder;
  /** Default `closed`. */
  readonly pace?: TracePace;
  /** `think` and `open`: recorded times are multiplied by this. Default 1. */
  readonly timeScale?: number;
  /**
   * Files that must have been there before the trace and are not: `report` (default) counts each call on them as
   * different; `make` makes them when they are first opened or queried, as large as the trace shows.
   */
  readonly missing?: 'report' | 'make';
  /** A mapping of a file for reading reads all of it that the file has. Default true. */
  readonly mappedReads?: boolean;
  /**
   * When a shared writable mapping counts as written, which no trace shows: `all` of it when it is made, `sync` where
   * `msync` or `munmap` name it, or `ignore`. Default `sync`.
   */
  readonly mappedWrites?: 'ignore' | 'sync' | 'all';
  /** How many differences are kept. Default 20; all are counted. */
  readonly differences?: number;
}

const known: Readonly<Record<keyof SystemReplayOptions, readonly string[] | 'path' | 'number' | 'boolean'>> = {
  root: 'path',
  target: 'path',
  directory: 'path',
  order: ['trace', 'threads'],
  pace: ['closed', 'think', 'open'],
  timeScale: 'number',
  missing: ['report', 'make'],
  mappedReads: 'boolean',
  mappedWrites: ['ignore', 'sync', 'all'],
  differences: 'number',
};

/** The options, checked, with their defaults. @throws ReplayError, InputError */
export function checkedOptions(options: SystemReplayOptions, timed: boolean): Required<SystemReplayOptions> {
  for (const [name, value] of Object.entries(options)) {
    const kind = known[name as keyof SystemReplayOptions];
    if (kind === undefined) throw unknownName('option of a system-call replay', name, Object.keys(known));
    if (value !== undefined) checkOption(name, value, kind);
  }
  if (options.root === undefined) {
    throw wrongOption('root', 'the directory of the traced machine that is replayed, such as /mnt/bench', options.root);
  }
  const { pace = 'closed', timeScale = 1 } = options;
  if (pace !== 'closed' && !timed) {
    const advice = 'Record with strace -ttt -T, or replay at the pace closed.';
    throw new ReplayError(
      ReplayErrorCode.option,
      `pace ${pace} needs the times of calls, which the trace lacks. ${advice}`,
      'pace',
    );
  }
  if (!(timeScale > 0)) throw wrongOption('timeScale', 'a number greater than 0', timeScale);
  return {
    target: '/',
    directory: options.root,
    order: 'trace',
    missing: 'report',
    mappedReads: true,
    mappedWrites: 'sync',
    differences: 20,
    ...options,
    pace,
    timeScale,
  };
}

function checkOption(name: string, value: unknown, kind: readonly string[] | 'path' | 'number' | 'boolean'): void {
  if (typeof kind !== 'string') {
    if (typeof value !== 'string' || !kind.includes(value)) throw unknownName(`value of ${name}`, String(value), kind);
  } else if (kind === 'path') {
    if (typeof value !== 'string' || !value.startsWith('/')) throw wrongOption(name, 'an absolute path', value);
  } else if (kind === 'number') {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      throw wrongOption(name, 'a number of at least 0', value);
  } else if (typeof value !== 'boolean') {
    throw wrongOption(name, 'true or false', value);
  }
}
