import { Errno, type ErrorCode, FsError } from '@flashstack/vfs';

/** The error of an `Errno`. */
export function errorOf(errno: number, what: string): FsError {
  for (const [code, value] of Object.entries(Errno)) {
    if (value === errno) return new FsError(code as ErrorCode, what);
  }
  return new FsError('EIO', `${what}, error ${errno}`);
}
