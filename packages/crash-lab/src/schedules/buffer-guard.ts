import { type BlockDevice, BlockOp, type BlockRequest, WrapperDevice } from '@flashstack/block-device';

/** Which buffers must stay as they are while a request is in flight. */
export type GuardedBuffers = 'reads' | 'all';

/**
 * Tells of buffers that their owner changes while they are not its own. The buffer of a read is the device's until it is
 * done. What is written is taken by `submit`, so changing it later is allowed here, but not with a device that reads memory
 * when it likes: `all` tells of that too.
 */
export class BufferGuard extends WrapperDevice {
  /** What was changed, in words. */
  readonly changes: string[] = [];
  private readonly guarded: GuardedBuffers;
  /** Per request number: the owner's buffer, its sum at submission, and what the device fills meanwhile. */
  private readonly buffers: (Uint8Array | null)[] = [];
  private readonly sums: number[] = [];

  constructor(device: BlockDevice, guarded: GuardedBuffers = 'reads') {
    super(device, device.blockCount);
    this.guarded = guarded;
  }

  protected accept(request: BlockRequest): void {
    const cookie = this.hold(request);
    const buffer = request.data;
    const isRead = request.op === BlockOp.read;
    this.buffers[cookie] = buffer !== null && (isRead || this.guarded === 'all') ? buffer : null;
    if (buffer !== null && this.buffers[cookie] !== null) this.sums[cookie] = sumOf(buffer);
    if (buffer !== null && isRead) request.data = new Uint8Array(buffer.length);
    this.forward(request, cookie, 0);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    const buffer = this.buffers[cookie];
    if (buffer !== null) {
      if (sumOf(buffer) !== this.sums[cookie]) {
        const { op, block, count } = request;
        this.changes.push(
          `${op === BlockOp.read ? 'read' : 'write'} of ${count} blocks from ${block}: its buffer was changed in flight`,
        );
      }
      if (request.op === BlockOp.read && request.data !== null) {
        buffer.set(request.data);
        request.data = buffer;
      }
    }
    request.owner.ioDone(request);
  }
}

function sumOf(bytes: Uint8Array): number {
  let sum = bytes.length;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x0100_0193);
  return sum;
}
