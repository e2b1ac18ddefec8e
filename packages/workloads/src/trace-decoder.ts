import type { TraceFormat } from './formats/format.js';
import { type Trace, TraceBuilder } from './trace.js';
import { type TraceCounts, type TraceOptions, TraceParser } from './trace-parser.js';

/** Decodes a trace pushed in chunks of any size into a {@link Trace}. Throws {@link TraceError}. */
export class TraceDecoder {
  private readonly file: string;
  private readonly builder = new TraceBuilder();
  private readonly parser: TraceParser;

  /** `file` is the name that errors show. */
  constructor(file: string, options: TraceOptions = {}) {
    this.file = file;
    this.parser = new TraceParser(file, options, this.builder);
  }

  /** The format in use, or null as long as it has not been recognised. */
  get format(): TraceFormat | null {
    return this.parser.format;
  }

  /** How the format was found: "named", or "recognised: …why". */
  get evidence(): string {
    return this.parser.evidence;
  }

  /** Operations decoded so far. */
  get operations(): number {
    return this.parser.operations;
  }

  /** What became of the lines or records so far. */
  get counts(): TraceCounts {
    return this.parser.counts;
  }

  /** Takes the next piece. The buffer may be reused afterwards. */
  push(chunk: Uint8Array): void {
    this.parser.push(chunk);
  }

  /** Decodes what is left and returns the trace. `name` defaults to the file name without folders and endings. */
  end(name: string = traceName(this.file)): Trace {
    this.parser.end();
    return this.builder.build(name, (this.parser.format as TraceFormat).name, this.parser.counts);
  }
}

/** The name of a trace file without folders and the usual endings: `/tmp/web_0.msr.csv.gz` → `web_0`. */
export function traceName(file: string): string {
  const base = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
  const short = base.replace(
    /(\.(gz|zst|csv|txt|trace|log|msr|systor17|alibaba|tencent|spc|disksim|mqsim|fio-v[23]|iolog|blkparse|blktrace|fiu|vscsi|hfplayer|strace))+$/i,
    '',
  );
  return short === '' ? base : short;
}
