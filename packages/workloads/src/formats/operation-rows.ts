import { BlockFlag, BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import { BlockCategory, BlockEvent, type BlockEventWriter } from './block-events.js';
import { SECTOR_BYTES } from './block-trace.js';
import type { OperationWriter } from './format.js';

/** What a row names instead of a thread, of which an operation knows nothing. */
const NAME = 'trace';

/** Operations as rows of a block trace, all of one action. */
export class OperationRows implements OperationWriter {
  private readonly writer: BlockEventWriter;
  private readonly event: BlockEvent = new BlockEvent();

  /** `action` is a `BlockAction`. */
  constructor(writer: BlockEventWriter, action: number) {
    this.writer = writer;
    this.event.action = action;
    this.event.name = NAME;
  }

  write({ op, flags, timeNs, offsetBytes, lengthBytes, flow }: Operation, sink: ByteSink): void {
    const { event } = this;
    event.category = op === BlockOp.flush ? BlockCategory.flush : categoryOf(op, flags);
    event.timeNs = timeNs;
    event.sector = offsetBytes / SECTOR_BYTES;
    event.bytes = lengthBytes;
    event.device = flow;
    this.writer.event(event, sink);
  }
}

/** `BlockCategory` bits of a request with data, by its `BlockOp` and `BlockFlag`. */
export function categoryOf(op: number, flags: number): number {
  const { read, write, discard, flush, fua, ahead, sync } = BlockCategory;
  const kind = op === BlockOp.read ? read : op === BlockOp.discard ? write | discard : write;
  return (
    kind |
    ((flags & BlockFlag.preflush) !== 0 ? flush : 0) |
    ((flags & BlockFlag.fua) !== 0 ? fua : 0) |
    ((flags & BlockFlag.ahead) !== 0 ? ahead : 0) |
    ((flags & BlockFlag.sync) !== 0 ? sync : 0)
  );
}
