// Whatever a test file, the code under test and the programs they start leave in the folder for temporary files goes into one
// of its own, which is removed at its end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const names = ['TMPDIR', 'TEMP', 'TMP'] as const;
const before = names.map((name) => process.env[name]);
const folder = mkdtempSync(join(tmpdir(), 'flashstack-test-'));
for (const name of names) process.env[name] = folder;

afterAll(() => {
  names.forEach((name, at) => {
    const value = before[at];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  });
  // A program that has just been stopped may still write: Windows and NFS refuse for a moment.
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
