export { type QueueClass, queueClasses } from './arbiter.js';
export { BufferedBlocks } from './buffered-blocks.js';
export { checkSsdConfig } from './check-config.js';
export {
  type BufferConfig,
  defaultScheduler,
  type FirmwareConfig,
  freeFirmware,
  type HostConfig,
  type LinkConfig,
  type PublishedFigure,
  type QueueConfig,
  type ReadCacheConfig,
  type SchedulerConfig,
  type SsdConfig,
  type SsdFtlOptions,
} from './config.js';
export { deviceImageLabel, loadDevice, saveDevice } from './device-image.js';
export { FlashStack, type Preconditioned, type PreconditionState } from './flash-stack.js';
export { FtlSocket } from './ftl-socket.js';
export type { DriveHealth } from './health.js';
export { type LinkModel, type LinkStandard, linkConfig, linkNames, linkOf, linkStandards } from './link-model.js';
export { PHASES, Phase, type PhaseName, PhaseProfile, phaseNames } from './phases.js';
export { presets, provenanceOf } from './presets/table.js';
export type { SsdProbe } from './probe.js';
export { appendOnlyMapping } from './program-unit.js';
export {
  type Preset,
  type Provenance,
  type ProvenanceClass,
  type ProvenanceEntry,
  provenanceAt,
} from './provenance.js';
export { type PresetOptions, resolvePreset, scaleSsd } from './resolve-preset.js';
export { Ssd, type SsdOptions } from './ssd.js';
export { type HostKind, hostKinds, KindStats, QueueStats, ReadCacheCounters, SsdCounters, SsdStats } from './stats.js';
