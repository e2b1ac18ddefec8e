/** What the command tells its caller; documented in `--help`. */
export const ExitCode = {
  done: 0,
  /** The answer is no: a failed validation, a device that failed. */
  no: 1,
  /** Wrong input or usage. */
  usage: 2,
  /** Input or output failed on this machine, or flashstack itself did. */
  failure: 3,
  /** Interrupted; what there is has been kept as a partial result. */
  interrupted: 130,
} as const;
