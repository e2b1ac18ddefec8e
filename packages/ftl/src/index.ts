export { type AllocationKind, allocationOrders, diesInOrder, unitsInOrder } from './allocation.js';
export {
  dChoicesMeanField,
  dChoicesWriteAmplification,
  fifoHotColdWriteAmplification,
  fifoWriteAmplification,
  firstOrderWriteAmplification,
  greedyLeastValid,
  greedyWriteAmplification,
  lambertW0,
  optimalSeparation,
  type PopularityClass,
  randomWriteAmplification,
  separatedWriteAmplification,
  slotsInUseWithTrims,
} from './analytic.js';
export { BlockState, BlockTable, type DomainKind, type FreeOrder } from './block-table.js';
export {
  CONTENT_HANDLE,
  type DriveFtl,
  type Ftl,
  type FtlClient,
  FtlStatus,
  type SegmentView,
  type ZoneLimits,
} from './contract.js';
export { type EraseCounts, eraseCounts } from './erase-counts.js';
export { FtlError } from './errors.js';
export type { FrontierLayout } from './frontier-layout.js';
export { Bast } from './hybrid/bast.js';
export { HybridFtl } from './hybrid/hybrid-ftl.js';
export { hybridScheme } from './hybrid/kinds.js';
export { OwnedLogs } from './hybrid/owned-logs.js';
export { type HybridSpec, type LogScheme, type SchemeParts, WAIT } from './hybrid/scheme.js';
export type { MapCacheOptions } from './map-cache/options.js';
export type { FtlParts, MappingKind, MappingScheme } from './mapping.js';
export { createFtl, mappingKinds, mappingName } from './mapping-kinds.js';
export {
  type MappedSpace,
  mappingTableBytes,
  mappingTables,
  type TablePart,
  type TableScheme,
  tableSchemes,
} from './mapping-size.js';
export { f2fsMetadataBytes } from './metadata-size.js';
export type { RecoveryReport } from './oob-scan.js';
export type {
  FtlOptions,
  GcMode,
  ResolvedFtlOptions,
} from './options.js';
export { PageMapFtl } from './page-map.js';
export { type PreconditionReport, preconditionByWriting, type WritingPlan } from './precondition.js';
export {
  type AnalyticPlan,
  type AnalyticWorkload,
  analyticRefusal,
  preconditionAnalytically,
} from './precondition-analytic.js';
export type { FtlProbe } from './probe.js';
export { SlotFlag } from './slot-contents.js';
export { FtlStats, MoveReason, VALIDITY_BUCKETS } from './stats.js';
export type { NamedStrategy, StrategyChoice } from './strategy-choice.js';
export { type StreamContext, type StreamPolicy, streamKinds } from './streams.js';
export { TRIM_MAP_ORIGIN } from './trim-map.js';
export { ValidBuckets } from './victims/buckets.js';
export { CandidateSet } from './victims/candidate-set.js';
export { ClosedRing } from './victims/closed-ring.js';
export { victimKinds } from './victims/kinds.js';
export { closedEarlier, type VictimPolicy } from './victims/policy.js';
export type { ResolvedWearLevelling, WearLevelling } from './wear-options.js';
