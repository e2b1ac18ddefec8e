export type { FileSystemUnderTest, MountedFileSystem } from './harness.js';
export { type ConformanceOptions, fileSystemConformance } from './suite.js';
