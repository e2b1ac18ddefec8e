import type { Operation } from './operation.js';

/** Takes operations one by one; the object is reused, so what is needed later must be copied. */
export interface OperationSink {
  add(operation: Operation): void;
  /** About so many operations will come in all. Absent: not wanted. */
  reserve?(operations: number): void;
  /** The operation that was added as the one of this number, from 0, took so long, in ns. Absent: not wanted. */
  respond?(operation: number, responseNs: number): void;
}
