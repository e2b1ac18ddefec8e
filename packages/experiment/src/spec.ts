import type { PreconditionState, SsdConfig } from '@flashstack/ssd';
import type { AddressPolicy, ReplayLoop } from '@flashstack/workloads';
import type { SpecModule } from './extensions.js';
import type { Warmup } from './options/run-values.js';

/** The drive of an experiment. */
export interface DeviceSpec {
  /** Name of a preset; this or `config`. */
  readonly preset?: string;
  /** A whole configuration of one's own. */
  readonly config?: SsdConfig;
  /** Scale the drive to what the host may address, bytes. */
  readonly capacityBytes?: number;
  /** Spare space as a share of what the host may address, instead of the preset's. */
  readonly overProvisioning?: number;
  /** Single values by path, such as `{ 'ftl.victim': 'fifo', 'nand.timing.eraseNs': 2000000 }`. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

/** Requests made by a generator, or given from outside (a trace). */
export type WorkloadSpec =
  | {
      /** Name of a synthetic workload: `sequential`, `random`, `zipf`, `pareto`, `hot-cold`. */
      readonly kind: string;
      /** Its parameters by name; see `syntheticKinds`. */
      readonly parameters?: Readonly<Record<string, number | string | boolean>>;
    }
  | {
      /** The operations come from the environment. */
      readonly kind: 'given';
      /** Shown in reports, such as the name of the trace. */
      readonly name: string;
      /** How the operations were read, if that was chosen: kept in the result, and part of the hash. */
      readonly reading?: Readonly<Record<string, unknown>>;
    };

/** One experiment as plain data: a stack, a workload, and how they are brought together. */
export interface ExperimentSpec {
  /** A preset's name, or more about the drive. */
  readonly device: string | DeviceSpec;
  readonly workload: WorkloadSpec;
  /** Seed of all randomness. Default 1. */
  readonly seed?: number;
  /** Default: the preset's. */
  readonly scheduler?: SsdConfig['scheduler']['kind'];
  /** State of the drive before the run. Default `none`. */
  readonly precondition?: PreconditionState;
  /** Default: closed, 32 in flight. */
  readonly loop?: ReplayLoop;
  /** Addresses beyond the drive. Default `fail`. */
  readonly address?: AddressPolicy;
  /** Passes over the workload. Default 1. */
  readonly repeat?: number;
  /** Compare what is read with what was written; needs `keeps: 'contents'`. Default false. */
  readonly verify?: boolean;
  /** Left out of the metrics at the start of the run. Default null: nothing. */
  readonly warmup?: Warmup | null;
}

/** The workload of a resolved spec: enough to tell whether two runs had the same operations. */
export type ResolvedWorkload =
  | { readonly kind: string; readonly parameters: Readonly<Record<string, number | string | boolean>> }
  | {
      readonly kind: 'given';
      readonly name: string;
      readonly requests: number;
      readonly digest: string;
      readonly reading: Readonly<Record<string, unknown>>;
    };

/**
 * A spec with the defaults of the run filled in and the preset replaced by its values: what a result is hashed by. An
 * option of the FTL that neither preset nor spec sets is not there: to write its default down gives another hash.
 */
export interface ResolvedSpec {
  readonly device: Omit<SsdConfig, 'summary' | 'sources' | 'figures'>;
  readonly workload: ResolvedWorkload;
  readonly seed: number;
  readonly precondition: PreconditionState;
  readonly loop: ReplayLoop;
  readonly address: AddressPolicy;
  readonly repeat: number;
  readonly verify: boolean;
  readonly warmup: Warmup | null;
  /** Modules of the user's own that the spec was resolved with. */
  readonly modules: readonly SpecModule[];
}
