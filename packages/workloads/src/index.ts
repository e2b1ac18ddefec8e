export { AddressMap, type AddressPolicy, type AddressSpace, addressPolicies } from './addresses.js';
export { BinaryRecord } from './binary-record.js';
export {
  BlockRecorder,
  type BlockRecorderOptions,
  type BlockRecorderStats,
  type BlockRecordingFormat,
} from './block-recording/block-recorder.js';
export { RecordedDevice } from './block-recording/recorded-device.js';
export { ByteSink } from './byte-sink.js';
export type { Compression } from './compression.js';
export { ContentCheck, type ContentMismatch } from './content-check.js';
export { type ConversionReport, type ConvertTraceOptions, convertTrace } from './convert-trace.js';
export type { FileJob, FileJobMode, FileJobOptions } from './file-jobs/file-job-options.js';
export { FileJobStats, type JobOperation, jobOperations } from './file-jobs/file-job-stats.js';
export { FileJobs, type FileJobsOptions } from './file-jobs/file-jobs.js';
export { JobOp, JobPlan } from './file-jobs/job-plan.js';
export { type CallKind, CallTotal, CallTotals, callKinds } from './files/call-totals.js';
export type { FileWorkload, FileWorkloadFactory } from './files/file-workload.js';
export { fileJobsOf, fileWorkloadKinds } from './files/file-workload-kinds.js';
export { listTree, makeTree, parseListing, type TreeEntry, type TreeKind, treeDifferences } from './files/tree.js';
export type {
  BinaryFormat,
  BinaryReader,
  FormatLimits,
  FormatOptions,
  OperationWriter,
  RequestReader,
  RowReader,
  TextFormat,
  TraceAction,
  TraceFormat,
  WaitUnit,
  WriterOptions,
} from './formats/format.js';
export { type PatternOptions, type PatternTimeUnit, type PatternWords, patternFormat } from './formats/pattern.js';
export { traceFormats } from './formats/table.js';
export { Iozone, type IozoneOptions, type IozonePhase, type IozoneResult } from './iozone.js';
export { type LogHostOptions, LogStructuredHost } from './log-host.js';
export { Operation, type OperationSource } from './operation.js';
export type { OperationSink } from './operation-sink.js';
export {
  type ReadTraceOptions,
  type ReadTraceResult,
  readMergedTrace,
  readTrace,
  type StreamTraceOptions,
  type StreamTraceResult,
  streamTrace,
  type TraceSourceFile,
} from './read-trace.js';
export { Replay, type ReplayLoop, type ReplayOptions } from './replay.js';
export { ReplayError, ReplayErrorCode } from './replay-error.js';
export { ReplayStats, type RequestKind, RequestStats, requestKinds } from './replay-stats.js';
export { parseSizes, type RequestSize } from './request-sizes.js';
export { type FieldSeparator, Row } from './row.js';
export { type SegmentOptions, type SegmentOrder, type SegmentShape, SegmentSource } from './segments.js';
export { readStrace } from './strace/read-strace.js';
export type { SystemReplayOptions, TraceOrder, TracePace } from './strace/replay-options.js';
export { type StraceOptions, StraceReader } from './strace/strace-reader.js';
export { SystemReplay } from './strace/system-replay.js';
export { type CallDifference, CallStats, SystemReplayStats } from './strace/system-replay-stats.js';
export { EXITED, type SystemTrace, type TracedCall } from './strace/system-trace.js';
export { type AccessPattern, type SyntheticOptions, SyntheticSource } from './synthetic.js';
export { syntheticKinds, type WorkloadFactory } from './synthetic-kinds.js';
export { type OperationTotals, Trace, TraceBuilder, type TraceColumns, TraceSource } from './trace.js';
export { TraceDecoder, traceName } from './trace-decoder.js';
export { type ConversionLosses, TraceEncoder, type TraceEncoderOptions } from './trace-encoder.js';
export { TraceError, TraceErrorCode, type TracePosition } from './trace-error.js';
export {
  type OpSummary,
  type SizeClass,
  type TraceInfo,
  TraceSummary,
  traceInfo,
  type VolumeSummary,
} from './trace-info.js';
export { type TraceCounts, type TraceOptions, TraceParser } from './trace-parser.js';
