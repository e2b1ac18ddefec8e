import { mix32 } from '@flashstack/sim';
import { Operation, type OperationSource } from '@flashstack/workloads';

/**
 * Reads a source from its start, and restarts it: the number of its operations, and 64 bits that tell whether two
 * sources give the same operations (a checksum, no protection against intent).
 */
export function operationsDigest(source: OperationSource): { requests: number; digest: string } {
  const operation = new Operation();
  let a = 0;
  let b = 0x9e37_79b9;
  let requests = 0;
  source.restart();
  while (source.next(operation)) {
    requests++;
    const fields = [
      operation.op,
      operation.flags,
      operation.stream,
      operation.flow,
      operation.origin,
      operation.lengthBytes,
      operation.offsetBytes,
      operation.timeNs,
    ];
    // The think-time loop waits for what was recorded; most traces do not tell.
    if (operation.responseNs > 0) fields.push(operation.responseNs);
    for (const field of fields) {
      a = mix32(a ^ field);
      b = mix32(Math.imul(b, 31) + Math.floor(field / 0x1_0000_0000) + a);
    }
  }
  source.restart();
  return { requests, digest: (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0') };
}
