/** A failure of the machine: a full disk, a file that cannot be written or may not be read. */
export class HostError extends Error {
  /** Stable identifier of the kind of failure. */
  readonly code: string = 'ERR_HOST';
  /** What to do about it. */
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = []) {
    super(message);
    this.name = 'HostError';
    this.hints = hints;
  }
}

/** What the machine said when `bytes` were to be written, in words. */
export function reasonOf(error: unknown, bytes: number): string {
  const code = (error as NodeJS.ErrnoException).code;
  const needed = `${Math.ceil(bytes / 1024)} KiB needed`;
  const known: Readonly<Record<string, string>> = {
    ENOSPC: `no space left on device (${needed})`,
    EDQUOT: `disk quota exceeded (${needed})`,
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ENOENT: 'no folder can be made there',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'a part of the path is a file, not a folder',
    EEXIST: 'a part of the path is a file, not a folder',
    EISDIR: 'there is a folder of that name',
  };
  return (code && known[code]) ?? code ?? String(error);
}
