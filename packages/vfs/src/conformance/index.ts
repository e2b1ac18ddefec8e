export { delayed } from './delayed.js';
export type { FileSystemUnderTest, MountedFileSystem } from './harness.js';
export { type ConformanceOptions, fileSystemConformance } from './suite.js';
