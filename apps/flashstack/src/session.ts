import { Progress } from './progress.js';
import { type ColorMode, type Host, type Style, styleFor } from './terminal.js';

/** Options that every command takes. */
export interface SessionFlags {
  readonly color: ColorMode;
  readonly ascii?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
}

/** One run of a command: where its text goes and how it looks. */
export class Session {
  readonly host: Host;
  /** Style of stdout. */
  readonly style: Style;
  /** Style of stderr. */
  readonly errorStyle: Style;
  readonly progress: Progress;
  /** Version of flashstack, named in results. */
  readonly version: string;
  private readonly quiet: boolean;

  constructor(host: Host, flags: SessionFlags, version: string) {
    this.host = host;
    this.version = version;
    this.quiet = flags.quiet === true;
    this.style = styleFor(host, host.stdout, flags.color, flags.ascii === true);
    this.errorStyle = styleFor(host, host.stderr, flags.color, flags.ascii === true);
    this.progress = new Progress(host, this.errorStyle, this.quiet);
  }

  /** The result, on stdout. */
  print(text: string): void {
    this.progress.clear();
    this.host.stdout.write(this.style.plain(text));
  }

  /** A note on stderr, such as `format   msr (…)`; dim, and silent with `--quiet`. */
  note(label: string, text: string): void {
    if (this.quiet) return;
    this.progress.clear();
    const line = this.errorStyle.tone('dim', `${label.padEnd(8)} ${text}`);
    this.host.stderr.write(`${this.errorStyle.plain(line)}\n`);
  }

  /** A warning on stderr, also with `--quiet`. */
  warn(text: string): void {
    this.progress.clear();
    const style = this.errorStyle;
    this.host.stderr.write(`${style.plain(`${style.tone('attention', style.attention)} ${text}`)}\n`);
  }
}
