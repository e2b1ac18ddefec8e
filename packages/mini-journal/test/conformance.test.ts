import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { describe, it } from 'vitest';
import { full, long, subject } from './support.js';

describe('mini-journal under a host', () => {
  fileSystemConformance({ test: it, subject, depth: long ? 50 : full ? 4 : 1 });
});
