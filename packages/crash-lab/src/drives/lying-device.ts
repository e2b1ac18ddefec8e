import { type BlockDevice, BlockFlag, BlockOp, type BlockRequest, WrapperDevice } from '@flashstack/block-device';

/** A drive that says that flushes are done, and that writes with FUA are durable, without doing anything: a control. */
export class LyingDevice extends WrapperDevice {
  private readonly flags: number[] = [];

  constructor(device: BlockDevice) {
    super(device, device.blockCount);
  }

  protected accept(request: BlockRequest): void {
    if (request.op === BlockOp.flush) {
      request.status = 0;
      request.owner.ioDone(request);
      return;
    }
    const cookie = this.hold(request);
    this.flags[cookie] = request.flags;
    request.flags &= ~(BlockFlag.fua | BlockFlag.preflush);
    this.forward(request, cookie, 0);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    request.flags = this.flags[cookie];
    request.owner.ioDone(request);
  }
}
