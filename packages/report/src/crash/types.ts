/** A failure behind a power cut. */
export interface CrashFailure {
  /** Name of the rule that is violated, such as R6. */
  readonly rule: string;
  /** The object that it concerns; empty: all, or the root. */
  readonly path: string;
  /** What was expected and found. */
  readonly text: string;
  /** Workload it was found in, counted from 0, and its operations. */
  readonly number: number;
  readonly operations: number;
  /** The operations that it takes, in lines: one for each program. */
  readonly steps: readonly string[];
  /** What happens, in lines: a position, then `#n` and a request, an operation that begins or ends, or the power cut. */
  readonly timeline: readonly string[];
  /** How the recovered tree differs from what programs had made: lines that begin with `-`, `+` or `!`. */
  readonly difference: readonly string[];
}

/** What was found by cutting the power of a file system, as plain JSON. Counts are of images unless they say otherwise. */
export interface CrashExploration {
  /** Of the file system. */
  readonly name: string;
  /** What was explored and how: key to value. */
  readonly configuration: Readonly<Record<string, string>>;
  /** Workloads that were to be explored; 0: without end. */
  readonly planned: number;
  /** Why some were not; null: all were. */
  readonly stopped: string | null;
  readonly counts: {
    readonly workloads: number;
    /** Equal images counted each time. */
    readonly tried: number;
    readonly recovered: number;
    /** Of power cuts during recovery, and during the recovery from those. */
    readonly second: number;
    readonly third: number;
    /** Trees that were read and judged. */
    readonly judged: number;
    readonly lost: number;
  };
  readonly unique: { readonly images: number; readonly states: number };
  /** Images lost by the rule that is violated first, and what rules demand. */
  readonly byRule: Readonly<Record<string, number>>;
  readonly titles: Readonly<Record<string, string>>;
  /** Workloads that an operation is part of, and those of them that lost an image. */
  readonly byOperation: Readonly<Record<string, { readonly workloads: number; readonly lost: number }>>;
  readonly failures: readonly CrashFailure[];
  readonly versions: Readonly<Record<string, string>>;
}
