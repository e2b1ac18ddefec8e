import {
  type BlockDevice,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  Origin,
  WrapperDevice,
} from '@flashstack/block-device';

/** What a defective device does to a request before it passes it on; false: it says that it is done without doing it. */
type Defect = (request: BlockRequest, count: number) => boolean;

const DURABLE = BlockFlag.fua | BlockFlag.preflush;
/** Writes of some origin that do not have to be durable at once. */
const isWriteOf = (request: BlockRequest, origin: number): boolean =>
  request.op === BlockOp.write && request.origin === origin && (request.flags & DURABLE) === 0;

/** Defects of devices, by name. */
export const deviceDefects: Readonly<Record<string, Defect>> = {
  'flushes and FUA are ignored': (request) => {
    request.flags &= ~DURABLE;
    return request.op !== BlockOp.flush;
  },
  'FUA is ignored': (request) => {
    request.flags &= ~BlockFlag.fua;
    return true;
  },
  'the flush before a write is ignored': (request) => {
    request.flags &= ~BlockFlag.preflush;
    return true;
  },
  'flush commands are ignored': (request) => request.op !== BlockOp.flush,
  'every other flush is ignored': (request, count) => {
    const flushes = request.op === BlockOp.flush || (request.flags & DURABLE) !== 0;
    if (!flushes || count % 2 === 0) return true;
    request.flags &= ~DURABLE;
    return request.op !== BlockOp.flush;
  },
  'blocks of the journal are lost': (request) => !isWriteOf(request, Origin.journal),
  'blocks of the journal go to the next block': (request) => {
    if (isWriteOf(request, Origin.journal)) request.block++;
    return true;
  },
  'the second half of a block of the journal is another': (request) => {
    if (isWriteOf(request, Origin.journal) && request.data !== null) request.data = torn(request.data);
    return true;
  },
  'blocks of a checkpoint are lost': (request) => !isWriteOf(request, Origin.checkpoint),
};

function torn(data: Uint8Array): Uint8Array {
  const half = data.slice();
  half.fill(0xa5, data.length / 2);
  return half;
}

/** A device with one of the defects. */
export class DefectiveDevice extends WrapperDevice {
  private readonly defect: Defect;
  private readonly kept: { flags: number; block: number; data: Uint8Array | null }[] = [];
  private requests = 0;

  constructor(device: BlockDevice, defect: Defect) {
    super(device, device.blockCount);
    this.defect = defect;
  }

  protected accept(request: BlockRequest): void {
    const cookie = this.hold(request);
    const { flags, block, data } = request;
    this.kept[cookie] = { flags, block, data };
    const durable = request.op === BlockOp.flush || (flags & DURABLE) !== 0;
    if (this.defect(request, durable ? ++this.requests : this.requests)) {
      this.forward(request, cookie, 0);
      return;
    }
    request.status = 0;
    this.release(cookie);
    this.completed(request, cookie);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    Object.assign(request, this.kept[cookie]);
    request.owner.ioDone(request);
  }
}
