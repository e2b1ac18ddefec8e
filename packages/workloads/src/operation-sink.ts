import type { Operation } from './operation.js';

/** Takes operations one by one; the object is reused, so what is needed later must be copied. */
export interface OperationSink {
  add(operation: Operation): void;
}
