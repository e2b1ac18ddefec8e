import { nearestName } from '@flashstack/sim';
import { TraceError, TraceErrorCode } from './trace-error.js';

const LISTED = 20;

/** Tells which volumes of a trace are wanted, by the names that its format gives them. */
export class VolumeSelection {
  /** Requests refused so far. */
  unselected = 0;
  private readonly wanted: ReadonlySet<string>;
  private readonly known = new Map<number, boolean>();
  private readonly names: string[] = [];
  private lastFlow = -1;
  private lastTaken = false;

  constructor(volumes: readonly string[]) {
    if (volumes.length === 0) {
      throw new TraceError(TraceErrorCode.option, 'volumes must name at least one volume, found none');
    }
    this.wanted = new Set(volumes);
  }

  /** True if requests of the volume with this number are wanted; `names` knows its name. */
  takes(flow: number, names: { volumeName(flow: number): string }): boolean {
    if (flow !== this.lastFlow) {
      this.lastFlow = flow;
      this.lastTaken = this.known.get(flow) ?? this.learn(flow, names.volumeName(flow));
    }
    if (!this.lastTaken) this.unselected++;
    return this.lastTaken;
  }

  /** Throws if a volume was asked for that the trace does not hold. */
  requireAll(file: string): void {
    for (const name of this.wanted) if (!this.names.includes(name)) throw this.missing(file, name);
  }

  /** The error of a trace that holds none of the wanted volumes. */
  nothing(file: string): TraceError {
    const [first] = this.wanted;
    return this.missing(file, first);
  }

  private learn(flow: number, name: string): boolean {
    const taken = this.wanted.has(name);
    this.known.set(flow, taken);
    this.names.push(name);
    return taken;
  }

  private missing(file: string, name: string): TraceError {
    const near = nearestName(name, this.names);
    const some = this.names.slice(0, LISTED).join(', ');
    const more = this.names.length > LISTED ? ` and ${this.names.length - LISTED} more` : '';
    return new TraceError(TraceErrorCode.volume, `${file}: the trace holds no requests to a volume "${name}"`, [
      `${near === null ? '' : `Did you mean ${near}? `}It holds ${some}${more}.`,
    ]);
  }
}
