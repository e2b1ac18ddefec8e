import { InputError } from '@flashstack/sim';

/** Keys and indices that lead to a place in a spec. */
export type SpecPath = readonly (string | number)[];

/** Where in a file something is wrong; lines and columns count from 1, columns in characters. */
export interface SpecPosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The offending line. */
  readonly text: string;
  /** The line above it, or null. */
  readonly before: string | null;
  /** Columns of the offending text, from 1, inclusive. */
  readonly from: number;
  readonly to: number;
}

/** A spec that cannot be run as it is written: what is wrong, at which key, and what to do. */
export class SpecError extends InputError {
  /** The keys that lead to it; empty for the whole. */
  readonly path: SpecPath;
  /** Whether the key itself is wrong, or its value. */
  readonly target: 'key' | 'value';
  /** What was probably meant, or an empty text. */
  readonly meant: string;
  /** What helps, one sentence each. */
  readonly hints: readonly string[];
  /** The place in the file, if there is one. */
  readonly position: SpecPosition | null;

  constructor(
    code: string,
    message: string,
    place: {
      readonly path: SpecPath;
      readonly target?: 'key' | 'value';
      readonly meant?: string;
      readonly hints?: readonly string[];
      readonly position?: SpecPosition | null;
      /** The error of a module of the user's own that this one stands for. */
      readonly cause?: unknown;
    },
  ) {
    super(code, message, place.path.join('.'), place.cause === undefined ? {} : { cause: place.cause });
    this.name = 'SpecError';
    this.path = place.path;
    this.target = place.target ?? 'value';
    this.meant = place.meant ?? '';
    this.hints = place.hints ?? [];
    this.position = place.position ?? null;
  }

  /** The same error with its place in a file. */
  at(position: SpecPosition): SpecError {
    const { path, target, meant, hints, cause } = this;
    const { file, line, column } = position;
    return new SpecError(this.code, `${file}:${line}:${column}: ${this.message}`, {
      path,
      target,
      meant,
      hints,
      position,
      cause,
    });
  }

  /** The same error with the name of its file, where the place in it is not known. */
  in(file: string): SpecError {
    const { path, target, meant, hints, cause } = this;
    return new SpecError(this.code, `${file}: ${this.message}`, { path, target, meant, hints, cause });
  }
}
