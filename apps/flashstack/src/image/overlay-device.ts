import {
  type BlockDevice,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  expandTag,
  WrapperDevice,
} from '@flashstack/block-device';

/** A device in front of another that keeps what is written in memory: recovery and checks leave the image as it is. */
export class OverlayDevice extends WrapperDevice {
  private readonly written: Map<number, Uint8Array> = new Map();

  constructor(device: BlockDevice) {
    super(device, device.blockCount);
  }

  protected accept(request: BlockRequest): void {
    if (request.op === BlockOp.read) {
      this.forward(request, this.hold(request), 0);
      return;
    }
    if (request.op !== BlockOp.flush) this.keep(request);
    request.status = BlockStatus.ok;
    request.owner.ioDone(request);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    const { block, count, data } = request;
    if (request.status === BlockStatus.ok && data !== null && this.written.size > 0) {
      for (let at = 0; at < count; at++) {
        const bytes = this.written.get(block + at);
        if (bytes !== undefined) data.set(bytes, at * this.blockBytes);
      }
    }
    super.completed(request, cookie);
  }

  private keep({ block, count, data, tags }: BlockRequest): void {
    const { blockBytes } = this;
    for (let at = 0; at < count; at++) {
      const bytes = new Uint8Array(blockBytes);
      if (data !== null) bytes.set(data.subarray(at * blockBytes, (at + 1) * blockBytes));
      else if (tags !== null) expandTag(tags[at], bytes, 0, blockBytes);
      this.written.set(block + at, bytes);
    }
  }
}
