import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guestMissing, runGuest } from '@flashstack/linux-guest';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'flashstack-guest-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(guestMissing('nothing shows that a kernel of Linux runs for the tests'))('the guest', () => {
  test('runs a script with disks and a shared folder, and tells its status', async () => {
    const disks = ['first', 'second'].map((name) => ({ path: join(folder, name), readOnly: name === 'first' }));
    for (const { path } of disks) {
      writeFileSync(path, `bytes of ${path}`);
      truncateSync(path, 1 << 20);
    }
    writeFileSync(join(folder, 'asked'), 'a question');
    const script = `
      modprobe -a f2fs ext4 loop
      head -c 8 "$DISK0"; echo; cat /share/asked; echo
      echo changed > "$DISK0"
      echo changed > "$DISK1"; sync
      grep -c f2fs /proc/filesystems > /share/answer
      python3 -c 'import ctypes, json, mmap, os; print(os.getuid())' >&2
      exit 7`;
    const { status, output } = await runGuest({ script, disks, share: folder });
    expect(output).toContain('bytes of\na question\n');
    expect(output).toMatch(/\n0\n$/);
    expect(status).toBe(7);
    expect(readFileSync(join(folder, 'answer'), 'utf8')).toBe('1\n');
    expect(readFileSync(join(folder, 'first'), 'utf8')).toMatch(/^bytes/);
    expect(readFileSync(join(folder, 'second'), 'utf8')).toMatch(/^changed\n/);
  });

  test('that does not end is given up', async () => {
    await expect(runGuest({ script: 'sleep 100', limitSeconds: 1 })).rejects.toThrow(/not done after 1 s/);
  });
});
