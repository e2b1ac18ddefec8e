import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { describe, it } from 'vitest';
import { memFsUnderTest, plain, waiting } from './memfs-subject.js';

const full = process.env.CI !== undefined;
const long = process.env.FLASHSTACK_LONG !== undefined;

describe('memfs under a host', () => {
  fileSystemConformance({ test: it, subject: memFsUnderTest(plain), depth: long ? 20 : full ? 4 : 1 });
});

// 250 interleavings a step.
describe('memfs with waits in all its operations under a host', () => {
  fileSystemConformance({ test: it, subject: memFsUnderTest(waiting), depth: long ? 800 : full ? 8 : 1 });
});
