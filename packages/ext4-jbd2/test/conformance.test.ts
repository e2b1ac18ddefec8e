import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { test } from 'vitest';
import { full, long, subject } from './support.js';

fileSystemConformance({ test, subject, depth: full ? 2 : 1, interleavings: long ? 200_000 : full ? 2000 : 100 });
