import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const env = { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/** Whether tests against e2fsprogs have to be skipped, which is said; an error with `CI` set. */
export function e2fsprogsMissing(unchecked: string): boolean {
  if (['/usr/sbin/e2fsck', '/sbin/e2fsck'].some((path) => existsSync(path))) return false;
  const message = `e2fsck is missing (Debian package e2fsprogs): ${unchecked}`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
  return true;
}

/** Features of the profile that `mkfs` makes. */
const PROFILE = [
  ...['none', 'has_journal', 'ext_attr', 'dir_index', 'filetype', 'extent', '64bit', 'flex_bg', 'sparse_super'],
  ...['large_file', 'huge_file', 'dir_nlink', 'extra_isize', 'metadata_csum'],
].join();

/** Makes a file system with mke2fs. */
export function mke2fs(path: string, mib: number, time: number, args: readonly string[] = []): void {
  execFileSync('truncate', ['-s', `${mib}M`, path]);
  const extended =
    'hash_seed=1b0c44d9-52aa-4a63-8e70-d3f1a2b4c5e6,lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0';
  const fixed = ['-q', '-F', '-t', 'ext4', '-b', '4096', '-I', '256', '-O', PROFILE, '-E', extended];
  const uuid = ['-U', '6f3a1c52-0b7d-4e8a-9c11-2a5d7e9f0c34'];
  execFileSync('mke2fs', [...fixed, ...uuid, ...args, path], {
    env: { ...env, E2FSPROGS_FAKE_TIME: String(time) },
    stdio: 'pipe',
  });
}

/** Runs e2fsck; returns its exit status and what it printed. */
export function e2fsck(path: string, args: readonly string[], time: number): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('e2fsck', [...args, path], {
    env: { ...env, E2FSPROGS_FAKE_TIME: String(time) },
    encoding: 'utf8',
    input: '',
  });
  return { status, output: stdout + stderr };
}

/** What `e2fsck -fn` complains about, a line each, but for a journal that waits. */
export function complaintsOf(path: string, time: number): string[] {
  const { status, output } = e2fsck(path, ['-fn'], time);
  const complaints = output
    .split('\n')
    .filter(
      (line) => line.trim() !== '' && !/^(e2fsck \d|Pass \d|Warning: skipping journal|.*: \d+\/\d+ files )/.test(line),
    );
  if (status !== 0 && complaints.length === 0) complaints.push(`status ${status}`);
  return complaints;
}
