export { ArbitratingScheduler } from './arbitrating.js';
export { BadBlock, NandArray, type NandArrayOptions, type NandKeeps, PADDING_LPN } from './array.js';
export type { NandClock } from './bus.js';
export { checkNandConfig } from './check.js';
export {
  defaultCommandTiming,
  defaultFeatures,
  defaultReliability,
  type NandConfig,
  type NandEcc,
  type NandFeatures,
  type NandGeometry,
  type NandPairing,
  type NandReliability,
  type NandTiming,
  type PageTable,
  type RawBitErrors,
} from './config.js';
export {
  NAND_PHASES,
  NandClass,
  type NandClient,
  NandPhase,
  type NandScheduler,
  NandStatus,
  type Token,
} from './contract.js';
export { createEventScheduler, type EventSchedulerOptions } from './create.js';
export type { DiePolicy } from './die-queues.js';
export { transferNs } from './durations.js';
export { type NandRule, NandRuleError, NandScheduleError } from './errors.js';
export { type EventOptions, EventScheduler } from './event.js';
export { Geometry, type NandAddress } from './geometry.js';
export { InstantScheduler } from './instant.js';
export type { PhaseTrace } from './phase-trace.js';
export { PlannedScheduler } from './planned.js';
export type { PowerCut } from './power-cut.js';
export type { NandProbe } from './probe.js';
export { Reliability } from './reliability.js';
export { ReservingScheduler } from './reserving.js';
export { TransactionScheduler } from './scheduler.js';
export { NandCounts } from './stats.js';
export { type TimelineOptions, TimelineScheduler } from './timeline.js';
export { OpKind } from './transactions.js';
export { VssimScheduler } from './vssim.js';
export { checkVssim, defaultVssimDelays, type VssimDelays } from './vssim-delays.js';
