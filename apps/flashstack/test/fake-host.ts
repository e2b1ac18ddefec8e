import type { Host, Output } from '../src/terminal.js';

let cpu = 0;

/** A machine of which a test sees everything. */
export class FakeHost implements Host {
  out = '';
  err = '';
  clockMs = 0;
  /** Sees every text that goes to stderr. */
  onErr: (text: string) => void = () => undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  private readonly interrupts = new Set<() => void>();

  constructor({ env = {}, terminal = false }: { env?: Record<string, string>; terminal?: boolean }) {
    this.env = env;
    this.stdout = {
      isTerminal: terminal,
      write: (text) => {
        this.out += text;
      },
      writeBytes: (bytes) => {
        this.out += Buffer.from(bytes).toString('latin1');
      },
    };
    this.stderr = {
      isTerminal: terminal,
      write: (text) => {
        this.err += text;
        this.onErr(text);
      },
      writeBytes: () => {
        throw new Error('bytes on stderr');
      },
    };
  }

  nowMs(): number {
    return this.clockMs;
  }

  epochSec(): number {
    return 1_700_000_000;
  }

  randomBytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, (_, at) => at + 1);
  }

  /** No two runs take the same time. */
  cpuSeconds(): number {
    cpu += 0.0625;
    return cpu;
  }

  maxRssBytes(): number {
    return 64 * 2 ** 20;
  }

  onInterrupt(callback: () => void): () => void {
    this.interrupts.add(callback);
    return () => this.interrupts.delete(callback);
  }

  /** Ctrl-C. */
  interrupt(): void {
    for (const callback of [...this.interrupts]) callback();
  }
}
