import type { Host, Style } from './terminal.js';

const CELLS = 24;
const REDRAW_MS = 100;
const LINE_MS = 10_000;

/**
 * Progress on stderr: on a terminal a bar, drawn at most ten times a second and erased at the end; elsewhere a whole
 * line every ten seconds.
 */
export class Progress {
  private readonly host: Host;
  private readonly style: Style;
  private readonly silent: boolean;
  /** The phase that runs. */
  phase = '';
  private startedMs = 0;
  private shownMs = 0;
  private visible = false;

  constructor(host: Host, style: Style, silent: boolean) {
    this.host = host;
    this.style = style;
    this.silent = silent;
  }

  /** Begins a phase. */
  start(phase: string): void {
    this.clear();
    this.phase = phase;
    this.startedMs = this.host.nowMs();
    this.shownMs = this.host.stderr.isTerminal ? this.startedMs - REDRAW_MS : this.startedMs;
  }

  /** Shows how far the phase is, if it is time to. `total` 0 or less: not known. */
  update(done: number, total: number, unit = ''): void {
    if (this.silent) return;
    const now = this.host.nowMs();
    const terminal = this.host.stderr.isTerminal;
    if (now - this.shownMs < (terminal ? REDRAW_MS : LINE_MS)) return;
    this.shownMs = now;
    const text = this.style.plain(this.describe(done, total, unit, (now - this.startedMs) / 1000, terminal));
    if (terminal) {
      this.host.stderr.write(`\r\u001b[K${text}`);
      this.visible = true;
    } else {
      this.host.stderr.write(`${text}\n`);
    }
  }

  /** On a terminal: says what a phase does of which nothing can be told until its end. */
  announce(text: string): void {
    if (this.silent || !this.host.stderr.isTerminal) return;
    this.host.stderr.write(`\r\u001b[K${this.style.plain(`${this.phase.padEnd(7)}  ${text} …`)}`);
    this.visible = true;
  }

  /** Erases the bar. */
  clear(): void {
    if (!this.visible) return;
    this.host.stderr.write('\r\u001b[K');
    this.visible = false;
  }

  private describe(done: number, total: number, unit: string, seconds: number, bar: boolean): string {
    const { numbers } = this.style;
    const rate = seconds > 0 ? done / seconds : 0;
    if (total <= 0) return `${this.phase.padEnd(7)}  ${numbers.scaled(done)}${unit}  ${numbers.scaled(rate)}/s`;
    const share = Math.min(1, done / total);
    const cells = Math.round(share * CELLS);
    const parts = [this.phase.padEnd(7)];
    if (bar) {
      parts.push(this.style.tone('path', '━'.repeat(cells)) + this.style.tone('dim', '━'.repeat(CELLS - cells)));
    }
    parts.push(
      `${Math.floor(share * 100)} %`.padStart(5),
      `${numbers.scaled(done)} of ${numbers.scaled(total)}${unit}`,
    );
    if (bar) parts.push(`${numbers.scaled(rate)}/s`);
    if (rate > 0 && done < total) parts.push(`${numbers.duration((total - done) / rate)} left`);
    return parts.join('  ');
  }
}
