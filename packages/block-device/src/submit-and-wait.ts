import { runTask, type Simulator, type Task } from '@flashstack/sim';
import type { BlockDevice, BlockRequest } from './contract.js';
import { IoBatch } from './io-batch.js';

/** The fields of a request that a caller may set. */
export type RequestFields = Partial<Omit<BlockRequest, 'op' | 'status' | 'issuedNs' | 'owner' | 'cookie' | 'clear'>> &
  Pick<BlockRequest, 'op'>;

/** Sends one request and runs the simulator until it is done; returns its status. For tests and small tools. */
export function submitAndWait(simulator: Simulator, device: BlockDevice, fields: RequestFields): number {
  const batch = new IoBatch(device);
  Object.assign(batch.add(fields.op, fields.block ?? 0, fields.count ?? 0), fields);
  function* send(): Task<number> {
    yield batch;
    return batch.status;
  }
  return runTask(simulator, send(), 'submitAndWait');
}
