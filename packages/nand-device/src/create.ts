import { InputError, type Simulator } from '@flashstack/sim';
import { ArbitratingScheduler } from './arbitrating.js';
import type { NandArray } from './array.js';
import type { EventOptions } from './event.js';
import { PlannedScheduler } from './planned.js';
import { ReservingScheduler } from './reserving.js';
import type { TransactionScheduler } from './scheduler.js';

/** Options of `createEventScheduler`. */
export interface EventSchedulerOptions extends EventOptions {
  /** `arbitrate` (default): the bus goes to who is ready. `reserve`: a read books its transfer with its command. */
  readonly bus?: 'arbitrate' | 'reserve';
}

/**
 * Makes the `event` scheduler for these options. With policy `fifo` and bus `reserve` it gives the completion times of
 * `TimelineScheduler` to the nanosecond, and nothing is suspended.
 * @throws InputError for an unknown policy or an impossible combination.
 */
export function createEventScheduler(
  array: NandArray,
  simulator: Simulator,
  options: EventSchedulerOptions = {},
): TransactionScheduler {
  const bus = options.bus ?? 'arbitrate';
  if (bus !== 'arbitrate' && bus !== 'reserve') {
    const found = JSON.stringify(bus);
    throw new InputError('ERR_NAND_BUS', `bus: expected arbitrate or reserve, found ${found}`, 'bus');
  }
  if (bus === 'arbitrate') return new ArbitratingScheduler(array, simulator, options);
  if (options.policy === 'fifo') return new PlannedScheduler(array, simulator, options);
  return new ReservingScheduler(array, simulator, options);
}
