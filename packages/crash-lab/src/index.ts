export { cutDrive, type DriveCutOptions, type DriveCutReport } from './drives/cut-drive.js';
export { cutFileSystem, type FileSystemCutOptions, type FileSystemCutReport } from './drives/cut-file-system.js';
export type { BufferPromise, Drive, DriveSubject } from './drives/drive.js';
export { LyingDevice } from './drives/lying-device.js';
export type { CrashCase } from './explore/crash-case.js';
export { exploreFormat, type FormatReport } from './explore/explore-format.js';
export { Explorer, type ExplorerOptions } from './explore/explorer.js';
export { type MinimiseOptions, minimiseCase } from './explore/minimise.js';
export { prepareSubject } from './explore/prepare-subject.js';
export { type CrashReplay, replayCase } from './explore/replay.js';
export { type CrashCounts, CrashResult, type CrashSummary } from './explore/result.js';
export { type TreesOfCase, treesOf } from './explore/tree-difference.js';
export { failRequests, type RequestFault } from './faults/fail-requests.js';
export type { FaultReport } from './faults/faulty-run.js';
export { misplaceWrites, type WrongWrite } from './faults/misplace-writes.js';
export { diffOfTrees } from './judge/diff.js';
export type { History, HistoryEvent } from './judge/history.js';
export { Judge, judge } from './judge/judge.js';
export { readTree } from './judge/read-tree.js';
export { RULE_TITLES } from './judge/rule-titles.js';
export { DURABILITY_RULES, type DurabilityRules, POSIX_RULES } from './judge/rules.js';
export type { Tree, TreeNode } from './judge/tree.js';
export type { Violation } from './judge/violation.js';
export type { MutantEnd, MutantOutcome } from './mutate/exercise.js';
export {
  type FailedMutant,
  ImageMutation,
  type MutationOptions,
  type MutationReport,
} from './mutate/mutate-image.js';
export type { Mutation } from './mutate/mutator.js';
export type { DeviceBudget } from './mutate/overlay-device.js';
export { sampleImage } from './mutate/sample-image.js';
export {
  type CrashRecord,
  type CrashSettings,
  type KeptCase,
  mergeRecords,
  type OperationCounts,
  readRecord,
  resultOf,
} from './record/crash-record.js';
export { type EndOptions, Exploration, type ExplorationPlan } from './record/exploration.js';
export { type OrderedDevice, type RecordedMark, RecordedRun } from './recorded/recorded-run.js';
export { BufferGuard, type GuardedBuffers } from './schedules/buffer-guard.js';
export {
  exploreSchedules,
  type FailedSchedule,
  runSchedule,
  type ScheduleOptions,
  type ScheduleReport,
  type ScheduleStrategy,
  simplifySchedule,
} from './schedules/explore-schedules.js';
export type { CrashSubject } from './subject.js';
export { BASE_STATES } from './workload/base-states.js';
export { checkWorkload } from './workload/check-workload.js';
export {
  type BoundedCounts,
  type Bounds,
  baseFor,
  boundedWorkloads,
  countBounded,
  type Selection,
} from './workload/enumerate.js';
export { executeWorkload, makeBase, type OrderClock, type WorkloadRun } from './workload/execute.js';
export { type RandomBounds, randomWorkload } from './workload/generate.js';
export { KNOWN_BUGS, type KnownBug } from './workload/known-bugs.js';
export { type ArgumentKind, OPERATIONS, type Operation, offers } from './workload/operations.js';
export type { Step, Workload } from './workload/workload.js';
