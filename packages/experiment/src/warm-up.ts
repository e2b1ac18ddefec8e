import { type EventTarget, InputError } from '@flashstack/sim';
import type { Ssd } from '@flashstack/ssd';
import type { Replay } from '@flashstack/workloads';
import type { Warmup } from './options/run-values.js';
import type { DriveSampler } from './sampler.js';

/** What was left out of the metrics. */
export interface WarmupRecord {
  readonly requests: number;
  /** Time since the start of the replay at which counting began, ns. */
  readonly untilNs: number;
}

/** Starts all counting again once the warm-up of a run is over. Series, heat maps and the start of GC cover the whole run. */
export class WarmupPhase implements EventTarget {
  /** What has been left out, or null as long as nothing has. */
  record: WarmupRecord | null = null;
  private readonly ssd: Ssd;
  private readonly replay: Replay;
  private readonly sampler: DriveSampler;
  private readonly startNs: number;
  /** Requests after which counting begins; Infinity: not by requests. */
  private readonly requests: number;
  private readonly timed: boolean;

  /** @throws InputError `ERR_SPEC_WARMUP` for a share of a workload whose length nobody knows. */
  constructor(warmup: Warmup | null, ssd: Ssd, replay: Replay, sampler: DriveSampler) {
    this.ssd = ssd;
    this.replay = replay;
    this.sampler = sampler;
    this.startNs = ssd.simulator.now;
    const { requests, timeNs, share } = (warmup ?? {}) as { requests?: number; timeNs?: number; share?: number };
    if (share !== undefined && replay.total < 0) {
      throw tooLong(
        'warmup is a share, but the workload does not know how many requests it has: give a number or a time',
      );
    }
    this.requests =
      share === undefined ? (requests ?? Number.POSITIVE_INFINITY) : Math.max(1, Math.round(share * replay.total));
    this.timed = timeNs !== undefined;
    if (timeNs !== undefined) ssd.simulator.at(this.startNs + timeNs, this, 0);
  }

  /** Requests until counting begins, Infinity if that does not depend on requests or has happened. */
  get requestsLeft(): number {
    const { completed, failed } = this.replay.stats;
    return this.record === null ? this.requests - completed - failed : Number.POSITIVE_INFINITY;
  }

  /** The time of the warm-up is over; called by the simulator. */
  fire(): void {
    if (!this.replay.finished) this.end();
  }

  /** Starts counting again. */
  end(): void {
    const { ssd, replay, sampler } = this;
    const { completed, failed } = replay.stats;
    this.record = { requests: completed + failed, untilNs: ssd.simulator.now - this.startNs };
    sampler.beforeReset();
    ssd.resetStats();
    replay.stats.reset(ssd.simulator.now);
    sampler.restart();
  }

  /** @throws InputError `ERR_SPEC_WARMUP` if the run has ended before anything was counted. */
  check(): void {
    const asked = this.timed || Number.isFinite(this.requests);
    const { completed, failed } = this.replay.stats;
    if (!asked || (this.record !== null && completed + failed > 0)) return;
    throw tooLong(
      `warmup is as long as the run, which ended after ${completed + failed + (this.record?.requests ?? 0)} requests and ` +
        `${this.ssd.simulator.now - this.startNs} ns: nothing is left to be measured. Choose a shorter one, or more requests`,
    );
  }
}

function tooLong(message: string): InputError {
  return new InputError('ERR_SPEC_WARMUP', message, 'warmup');
}
