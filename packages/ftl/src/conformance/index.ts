export type { FtlConformanceOptions, FtlScenario, FtlSubject, FtlSupports } from './suite.js';
export { ftlConformance } from './suite.js';
