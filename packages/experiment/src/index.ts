export type { Analysis, Bottleneck, BoundShare, GcSummary, ProgramShare, Resource } from './analysis.js';
export type { HeatmapRecord } from './busy-map.js';
export { canonicalJson } from './canonical-json.js';
export type { DistributionRecord } from './distributions.js';
export { modulesOf, type ReadDocument, readDocument } from './document.js';
export { type Extensions, extend, noExtensions, type SpecModule } from './extensions.js';
export { checkFigure, type FigureCheck, type FigureVerdict, measureFigure } from './measure-figure.js';
export { driveOptions } from './options/drive-options.js';
export { type JsonSchema, optionSchema, specSchema } from './options/json-schema.js';
export { describeOption, type Option, type OptionTable, type OptionType, parseOption } from './options/option.js';
export { type OptionGroup, optionGroups, optionReference } from './options/reference.js';
export { deviceOptions, runOptions, traceOptions } from './options/run-options.js';
export type { Warmup } from './options/run-values.js';
export { amountAdvice, parseAmount, type UnitKind, writeAmount } from './options/units.js';
export type { TraceRequest } from './read-workload.js';
export { resolveDevice, resolveSpec } from './resolve-spec.js';
export { type ExperimentResult, type Partial, RESULT_SCHEMA } from './result.js';
export { type Cell, type Column, type NamedResult, type ResultTable, resultTables, tableCsv } from './result-tables.js';
export {
  type ExperimentEnvironment,
  type ExperimentProgress,
  type HashedSpec,
  hashSpec,
  type RunClock,
  runExperiment,
} from './run.js';
export { segmentShapeOf } from './segment-shape.js';
export { sha256 } from './sha256.js';
export type {
  DeviceSpec,
  ExperimentSpec,
  FileJobsSpec,
  ResolvedBlockSpec,
  ResolvedSpec,
  ResolvedSystemSpec,
  ResolvedWorkload,
  StraceSpec,
  WorkloadSpec,
} from './spec.js';
export { specLeaves } from './spec-leaves.js';
export type { SpecPath, SpecPosition } from './spec-problem.js';
export { SpecError } from './spec-problem.js';
export type { RecordedCalls } from './system/file-work.js';
export type { ResolvedSystem, SystemSpec } from './system/system-spec.js';
export { traceReading } from './trace-reading.js';
export {
  countVerdicts,
  type KindCount,
  type PresetValidation,
  type ValidationCounts,
  validationPage,
} from './validation-page.js';
export type { WarmupRecord } from './warm-up.js';
export {
  type WriteCause,
  type WriteFlowSource,
  type WriteLayer,
  type WritePart,
  writeFlowOf,
  writeLayers,
} from './write-flow.js';
