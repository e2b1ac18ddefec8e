export type { FtlConformanceOptions, FtlScenario, FtlSubject, FtlSupports } from './run.js';
export { ftlConformance } from './suite.js';
