import type { FtlClient } from '@flashstack/ftl';
import type { Token } from '@flashstack/nand-device';

/**
 * Where the FTL's answers go. The FTL outlives power cuts and preconditioning, its client does not: with nobody plugged
 * in, answers are dropped and written slots hold zeroes.
 */
export class FtlSocket implements FtlClient {
  client: FtlClient | null = null;

  ftlDone(job: number, status: number, token: Token): void {
    if (this.client !== null) this.client.ftlDone(job, status, token);
  }

  slotWord(job: number, lpn: number): number {
    return this.client === null ? 0 : this.client.slotWord(job, lpn);
  }

  slotRead(job: number, lpn: number, psn: number): void {
    if (this.client !== null) this.client.slotRead(job, lpn, psn);
  }

  wordCopied(word: number): void {
    if (this.client !== null) this.client.wordCopied(word);
  }

  wordDead(word: number): void {
    if (this.client !== null) this.client.wordDead(word);
  }
}
