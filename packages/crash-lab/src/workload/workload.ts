/**
 * One operation of a workload as it stands in a replay file: its name and arguments, such as `["rename", "A/foo", "bar"]`.
 * Paths are relative to the root of the file system, which is the empty string. A file may be named by a handle such as
 * `#1` where one is open.
 */
export type Step = readonly [name: string, ...args: (string | number)[]];

/** What programs do to a file system: one value that describes it completely, contents included. */
export interface Workload {
  /** Name of the durable state that they begin with, of `BASE_STATES`. */
  readonly base: string;
  /** Programs that run beside each other, each with its operations in order. */
  readonly processes: readonly (readonly Step[])[];
  /** For everything random about a run of it. */
  readonly seed: number;
}
