import { type ExperimentSpec, resolveDevice, segmentShapeOf } from '@flashstack/experiment';
import { Simulator } from '@flashstack/sim';
import { Ssd } from '@flashstack/ssd';
import { LogStructuredHost, Operation, type OperationSource, type SegmentShape } from '@flashstack/workloads';

/** Several workloads, one after the other. */
class Sequence implements OperationSource {
  readonly count = -1;
  private readonly parts: readonly OperationSource[];
  private at = 0;

  constructor(parts: readonly OperationSource[]) {
    this.parts = parts;
  }

  next(out: Operation): boolean {
    for (; this.at < this.parts.length; this.at++) if (this.parts[this.at].next(out)) return true;
    return false;
  }

  restart(): void {
    for (const part of this.parts) part.restart();
    this.at = 0;
  }
}

/** What is put behind a log-structured host. */
export interface HostedWorkload {
  /** Run one after the other. */
  readonly parts: readonly OperationSource[];
  /** Bytes that are written before counting begins. */
  readonly uncountedBytes: number;
}

/** A workload behind a log-structured host, ready to be run. */
export interface HostedRun {
  readonly source: OperationSource;
  /** Requests of the host to the drive before counting begins. */
  readonly warmup: number;
  /** Bytes that the host writes, over those that the workload writes, once counting has begun. */
  readonly amplification: number;
}

/** The segments of the append-only drive that a spec describes. */
export function segmentsOf(spec: ExperimentSpec): SegmentShape {
  const shape = segmentShapeOf(new Ssd(new Simulator(), resolveDevice(spec), { seed: 1 }));
  if (shape === null) throw new TypeError('the drive has no segments');
  return shape;
}

/** Puts the host before the workload, and runs it without a drive to count what it will do. */
export function hosted({ parts, uncountedBytes }: HostedWorkload, shape: SegmentShape, userBytes: number): HostedRun {
  const host = new LogStructuredHost(new Sequence(parts), { shape, userBytes });
  const out = new Operation();
  let [warmup, user, cleaned] = [0, 0, 0];
  while (host.next(out)) {
    if (uncountedBytes === 0 || host.userWritten > uncountedBytes) continue;
    warmup++;
    [user, cleaned] = [host.userWritten, host.cleaned];
  }
  const amplification = 1 + (host.cleaned - cleaned) / (host.userWritten - user);
  host.restart();
  return { source: host, warmup, amplification };
}
