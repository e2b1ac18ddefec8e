export type { History, HistoryEvent } from './judge/history.js';
export type { Tree, TreeNode } from './judge/tree.js';
export type { Violation } from './judge/violation.js';
export type { CrashSubject } from './subject.js';
export type { Step, Workload } from './workload/workload.js';
