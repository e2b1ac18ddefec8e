import {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  BlockStatus,
} from './contract.js';
import { validateRequest } from './validate-request.js';

/**
 * Base of devices that take no simulated time: a request is carried out in `submit` and given back from there.
 * An owner that submits from `ioDone` does not recurse: its request is carried out at once and given back after the
 * present one, so a chain of any length needs no stack.
 */
export abstract class ImmediateDevice implements BlockDevice {
  abstract readonly blockBytes: number;
  abstract readonly blockCount: number;
  abstract readonly features: BlockFeatures;
  private readonly finished: BlockRequest[] = [];
  private completing = false;

  submit(request: BlockRequest): void {
    validateRequest(this, request);
    request.status = this.supports(request) ? this.perform(request) : BlockStatus.notSupported;
    if (this.completing) {
      this.finished.push(request);
      return;
    }
    this.completing = true;
    try {
      request.owner.ioDone(request);
      // Grows while owners submit from `ioDone`.
      for (let at = 0; at < this.finished.length; at++) this.finished[at].owner.ioDone(this.finished[at]);
    } finally {
      this.finished.length = 0;
      this.completing = false;
    }
  }

  /** Carries out a valid request that the features allow; returns its status. */
  protected abstract perform(request: BlockRequest): number;

  /** True if the features allow a valid request. */
  protected supports(request: BlockRequest): boolean {
    if (request.op === BlockOp.discard) return this.features.discard;
    return (request.flags & BlockFlag.fua) === 0 || this.features.fua;
  }
}
