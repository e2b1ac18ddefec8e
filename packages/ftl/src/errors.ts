/** The FTL was misused, or found its own books wrong. `code` is stable. */
export class FtlError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'FtlError';
    this.code = code;
  }
}
