/**
 * Failures of write-back of a file system, told once to each who watches, as Linux's errseq does: who begins to watch is
 * also told of a failure that nobody has been told yet.
 */
export class WriteErrors {
  private errno = 0;
  private failures = 0;
  private told = true;

  /** Write-back has failed with this `Errno`. */
  note(errno: number): void {
    // Until somebody has been told, equal failures are one.
    if (this.told || errno !== this.errno) this.failures++;
    this.errno = errno;
    this.told = false;
  }

  /** What somebody who begins to watch remembers. */
  begin(): number {
    return this.told ? this.failures : 0;
  }

  /** What one who has been told everything remembers. */
  get latest(): number {
    return this.failures;
  }

  /** `Errno` of what has failed since somebody remembered `since`, who is told by this; 0: nothing has. */
  take(since: number): number {
    if (since === this.failures) return 0;
    this.told = true;
    return this.errno;
  }
}
