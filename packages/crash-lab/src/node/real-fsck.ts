import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { InputError } from '@flashstack/sim';

/** A format of which there is a checker outside of this project. */
export type CheckedFormat = 'ext4' | 'f2fs';

/** What the checker of a format says about an image. */
export interface FsckVerdict {
  readonly clean: boolean;
  /** Its complaints, a line each. */
  readonly complaints: readonly string[];
  /** Everything that it printed. */
  readonly output: string;
}

interface Checker {
  readonly program: string;
  readonly args: readonly string[];
  /** Debian's. */
  readonly pack: string;
  /** Exit statuses from here on mean that it could not check. */
  readonly failures: number;
  complains(line: string): boolean;
}

// Neither may write: e2fsck opens the image read-only with -n, fsck.f2fs writes without --dry-run whatever it was asked.
const CHECKERS: Readonly<Record<CheckedFormat, Checker>> = {
  ext4: {
    program: 'e2fsck',
    args: ['-fn'],
    pack: 'e2fsprogs',
    failures: 16,
    // The other lines are passes, totals, and that the journal waits for recovery, which is no fault.
    complains: (line) =>
      !/^(e2fsck \d|Pass \d|Warning: skipping journal recovery|.*: \d+\/\d+ files |.*WARNING: Filesystem still has errors)/.test(
        line,
      ),
  },
  f2fs: {
    program: 'fsck.f2fs',
    args: ['--dry-run', '-f'],
    pack: 'f2fs-tools',
    failures: 256,
    complains: (line) => /\[Fail\]|\[ASSERT\]|\[FIX\]/.test(line),
  },
};

/**
 * Checks an image, which is not changed, with the checker that comes with the format: `e2fsck -fn`, `fsck.f2fs --dry-run`.
 * An image that has not been recovered is judged as it stands, so recover it first.
 * @throws InputError `ERR_FSCK_MISSING` if the program is not installed, `ERR_IMAGE_MISSING` without image; Error if the
 * program failed.
 */
export function realFsck(format: CheckedFormat, path: string): FsckVerdict {
  const { program, args, pack, failures, complains } = CHECKERS[format];
  if (!existsSync(path)) throw new InputError('ERR_IMAGE_MISSING', `Image file ${path} does not exist.`, 'path');
  const { status, error, stdout, stderr } = spawnSync(program, [...args, path], {
    encoding: 'utf8',
    input: '',
    maxBuffer: 1 << 28,
    env: { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
  });
  if (error !== undefined) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new InputError('ERR_FSCK_MISSING', `${program} is not installed (Debian package ${pack}).`, 'format', {
      cause: error,
    });
  }
  const output = stdout + stderr;
  if (status === null || status >= failures) throw new Error(`${program} ${path}: status ${status}\n${output}`);
  const complaints = output.split('\n').filter((line) => line.trim() !== '' && complains(line));
  if (status !== 0 && complaints.length === 0) complaints.push(`${program} ends with status ${status}`);
  return { clean: complaints.length === 0, complaints, output };
}
