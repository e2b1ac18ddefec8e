import type { PreconditionState, SsdConfig } from '@flashstack/ssd';
import type { AddressPolicy, ReplayLoop, SystemReplayOptions } from '@flashstack/workloads';
import type { SpecModule } from './extensions.js';
import type { Warmup } from './options/run-values.js';
import type { ResolvedSystem, SystemSpec } from './system/system-spec.js';

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

type Parameters = Readonly<Record<string, number | string | boolean>>;

/** Jobs on files, in a stack with an operating system. */
export interface FileJobsSpec {
  /** `file-jobs`, or a workload on files of a module. */
  readonly kind: string;
  /** Of the job, or of all `jobs` that do not say otherwise. */
  readonly parameters?: Parameters;
  /** Several jobs side by side. */
  readonly jobs?: readonly Parameters[];
}

/** System calls that strace recorded, in a stack with an operating system; they come from the environment. */
export interface StraceSpec {
  readonly kind: 'strace';
  /** Shown in reports. */
  readonly name: string;
  /** How they are replayed: `root` is needed. Files that should have been there are made unless it says otherwise. */
  readonly parameters: Omit<SystemReplayOptions, 'target' | 'differences'>;
}

/** Requests made by a generator, or given from outside (a trace); with a system, programs that work on files. */
export type WorkloadSpec =
  | FileJobsSpec
  | StraceSpec
  | {
      /** Name of a synthetic workload: `sequential`, `random`, `zipf`, `pareto`, `hot-cold`. */
      readonly kind: string;
      /** Its parameters by name; see `syntheticKinds`. */
      readonly parameters?: Parameters;
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
  /** File system, page cache and block layer above the drive. Without it requests go to the drive as they are. */
  readonly system?: SystemSpec;
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
  | { readonly kind: string; readonly parameters: Parameters; readonly jobs?: readonly Parameters[] }
  | {
      readonly kind: 'strace';
      readonly name: string;
      readonly parameters: Parameters;
      /** System calls. */
      readonly requests: number;
      readonly digest: string;
    }
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
export type ResolvedSpec = ResolvedBlockSpec | ResolvedSystemSpec;

/** What every resolved spec has. */
interface Resolved {
  readonly device: Omit<SsdConfig, 'summary' | 'sources' | 'figures'>;
  readonly workload: ResolvedWorkload;
  readonly seed: number;
  readonly precondition: PreconditionState;
  readonly warmup: Warmup | null;
  /** Modules of the user's own that the spec was resolved with. */
  readonly modules: readonly SpecModule[];
}

/** A resolved spec of requests to a drive. */
export interface ResolvedBlockSpec extends Resolved {
  readonly system?: undefined;
  readonly loop: ReplayLoop;
  readonly address: AddressPolicy;
  readonly repeat: number;
  readonly verify: boolean;
}

/** A resolved spec of programs on a system. */
export interface ResolvedSystemSpec extends Resolved {
  readonly system: ResolvedSystem;
}
