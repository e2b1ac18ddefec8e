/**
 * Bad input: an option, name or file content that a user can put right. Shared by all packages.
 * `code` is stable (for example `ERR_UNKNOWN_NAME`); the message names what was found and what was expected.
 */
export class InputError extends Error {
  /** Stable identifier of the kind of mistake. */
  readonly code: string;
  /** The option or column concerned, such as `ftl.victimPolicy`, or an empty string. */
  readonly key: string;

  /** `options.cause`: the error of somebody else's code that this one stands for. */
  constructor(code: string, message: string, key = '', options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'InputError';
    this.code = code;
    this.key = key;
  }
}

/** A misuse of the simulation kernel, or a simulated system that cannot go on. */
export class SimulationError extends Error {
  /** `ERR_SIM_REENTRANT`, `ERR_SIM_WAIT`, `ERR_SIM_STALLED`, `ERR_SIM_LIVELOCK`, `ERR_SIM_ABANDONED`, `ERR_SIM_LOCK` or `ERR_SIM_STATE`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'SimulationError';
    this.code = code;
  }
}
