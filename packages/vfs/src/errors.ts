/** POSIX error codes with their numbers on Linux. */
export const Errno = {
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  ENXIO: 6,
  EBADF: 9,
  ECHILD: 10,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EBUSY: 16,
  EEXIST: 17,
  EXDEV: 18,
  ENODEV: 19,
  ENOTDIR: 20,
  EISDIR: 21,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  ETXTBSY: 26,
  EFBIG: 27,
  ENOSPC: 28,
  ESPIPE: 29,
  EROFS: 30,
  EMLINK: 31,
  EPIPE: 32,
  ERANGE: 34,
  ENAMETOOLONG: 36,
  ENOTEMPTY: 39,
  ELOOP: 40,
  ENODATA: 61,
  EOVERFLOW: 75,
  EOPNOTSUPP: 95,
  ESTALE: 116,
  EUCLEAN: 117,
  EDQUOT: 122,
} as const;

/** Name of a POSIX error, such as `ENOSPC`. */
export type ErrorCode = keyof typeof Errno;

const SAID: Partial<Record<ErrorCode, string>> = {
  EPERM: 'operation not permitted',
  ENOENT: 'no such file or directory',
  EIO: 'input/output error',
  EBADF: 'bad file descriptor',
  EACCES: 'permission denied',
  EBUSY: 'resource busy',
  EEXIST: 'file exists',
  EXDEV: 'on another file system',
  ENOTDIR: 'not a directory',
  EISDIR: 'is a directory',
  EINVAL: 'invalid argument',
  EMFILE: 'too many open files',
  EFBIG: 'file too large',
  ENOSPC: 'no space left on device',
  ESPIPE: 'illegal seek',
  EROFS: 'read-only file system',
  EMLINK: 'too many links',
  ENAMETOOLONG: 'file name too long',
  ENOTEMPTY: 'directory not empty',
  ELOOP: 'too many levels of symbolic links',
  ENODATA: 'no such attribute',
  EOPNOTSUPP: 'operation not supported',
  EUCLEAN: 'structure needs cleaning',
};

/** A failed file-system operation or system call. Thrown by a plain call and by a task alike. */
export class FsError extends Error {
  readonly code: ErrorCode;

  /** @param detail what failed, such as the path or the structure that is damaged. */
  constructor(code: ErrorCode, detail = '') {
    const said = SAID[code] ?? code;
    super(detail === '' ? `${code}: ${said}` : `${code}: ${said}: ${detail}`);
    this.name = 'FsError';
    this.code = code;
  }

  /** Number of the error on Linux. */
  get errno(): number {
    return Errno[this.code];
  }
}
