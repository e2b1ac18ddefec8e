import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { describe, it } from 'vitest';
import { full, long, subject } from './support.js';

describe('mini-journal under a host', () => {
  const interleavings = long ? 200_000 : full ? 2000 : 250;
  fileSystemConformance({ test: it, subject, depth: long ? 50 : full ? 4 : 1, interleavings });
});
