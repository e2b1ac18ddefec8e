export { delayed } from './delayed.js';
export type { FileSystemUnderTest, MountedFileSystem } from './harness.js';
export { type InterleavingOptions, interleave } from './interleaving-tests.js';
export { type ConformanceOptions, fileSystemConformance } from './suite.js';
