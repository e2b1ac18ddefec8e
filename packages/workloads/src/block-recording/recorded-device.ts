import { type BlockDevice, type BlockRequest, WrapperDevice } from '@flashstack/block-device';
import { InputError } from '@flashstack/sim';
import type { BlockRecorder } from './block-recorder.js';

/**
 * Passes everything on and has it recorded: each request is queued and issued when it comes, and completed when the device
 * is done. For devices that no block layer stands in front of.
 */
export class RecordedDevice extends WrapperDevice {
  private readonly recorder: BlockRecorder;

  /** @throws InputError `ERR_BLOCK_RECORDING` for a device with zones, whose operations have no rows. */
  constructor(device: BlockDevice, recorder: BlockRecorder) {
    super(device, device.blockCount);
    if (this.zones !== null) {
      throw new InputError('ERR_BLOCK_RECORDING', 'the device has zones; block traces are recorded of devices without');
    }
    this.recorder = recorder;
  }

  protected accept(request: BlockRequest): void {
    const { op, block, count, flags, origin } = request;
    this.recorder.queued(op, block, count, flags, origin);
    this.recorder.issued(op, block, count, flags, origin);
    this.forward(request, this.hold(request), 0);
  }

  protected override completed(request: BlockRequest): void {
    const { op, block, count, flags, origin, status } = request;
    this.recorder.completed(op, block, count, flags, origin, status);
    request.owner.ioDone(request);
  }
}
