export { type CrashPageOptions, renderCrashes } from './crash/page.js';
export type { CrashExploration, CrashFailure } from './crash/types.js';
export { type FigureFile, figureFiles, reproductionFigures } from './figure-files.js';
export { renderReport } from './render.js';
export { type ReproductionsOptions, renderReproductions } from './reproduction/page.js';
export { type Strip, stripOf } from './reproduction/strip.js';
export type {
  Basis,
  Claim,
  Reproduction,
  ReproductionFigure,
  Verdict,
} from './reproduction/types.js';
export type { ReportOptions } from './run-report.js';
export { type Interval, type RecorderOptions, TimelineRecorder } from './timeline/recorder.js';
export { traceEvents } from './timeline/trace-events.js';
export { dark, light, type Theme, type Token } from './tokens.js';
