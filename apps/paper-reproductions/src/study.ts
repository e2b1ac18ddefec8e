import { type ExperimentResult, type ExperimentSpec, type RunClock, runExperiment } from '@flashstack/experiment';
import type { Claim, Reproduction, ReproductionFigure } from '@flashstack/report';
import { InputError, SimulationError } from '@flashstack/sim';
import type { OperationSource, Trace } from '@flashstack/workloads';

/** What a study found. */
export interface Findings {
  readonly claims: readonly Claim[];
  readonly figures: readonly ReproductionFigure[];
  readonly tables?: Reproduction['tables'];
  readonly notes?: readonly string[];
}

/** A published experiment that can be run: the identity of its statement, and how to get the values. */
export interface Study {
  /** Such as `VS-RAND`; the identifiers of `docs/validation/reproductions.md`. */
  readonly id: string;
  /** At most 36 characters: what is compared. */
  readonly title: string;
  /** Such as `VSSIM (MSST 2013)`. */
  readonly paper: string;
  readonly tightness: Reproduction['tightness'];
  /** What was scaled and by how much, or `full size`. */
  readonly scale: string;
  /** Seeds of a run: 1 where nothing is random, at least 5 elsewhere. */
  readonly seeds: number;
  /** CPU time with all seeds, roughly: shown before it is run. */
  readonly cpuSeconds: number;
  run(lab: Lab): Promise<Findings>;
}

/** What a reproduction gets from outside. None of it changes the result, except the seeds. */
export interface LabEnvironment {
  /** Default: 1 … the study's number of seeds. */
  readonly seeds?: readonly number[];
  readonly versions?: Readonly<Record<string, string>>;
  readonly clock?: RunClock;
  /** Opens a recorded trace by its file name; studies that replay one need it. */
  readonly openTrace?: (name: string) => Promise<Trace>;
  /** Called before each run with what is done so far. */
  readonly progress?: (runs: number, name: string) => void;
  /** Asked during runs; true ends the reproduction with an error. */
  readonly cancelled?: () => boolean;
}

/** A reproduction was ended from outside. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}

/** Where a study runs its experiments; it remembers which ones. */
export class Lab {
  readonly seeds: readonly number[];
  readonly runs: Reproduction['runs'][number][] = [];
  private readonly environment: LabEnvironment;

  constructor(seeds: readonly number[], environment: LabEnvironment) {
    this.seeds = seeds;
    this.environment = environment;
  }

  /** A recorded trace. @throws InputError if the environment has none. */
  async trace(name: string): Promise<Trace> {
    const { openTrace } = this.environment;
    if (openTrace === undefined) {
      throw new InputError('ERR_REPRODUCTION', `the trace ${name} is needed: give openTrace`, 'openTrace');
    }
    return await openTrace(name);
  }

  /** Runs one experiment, on given operations if there are any. @throws CancelledError if the user asks for the end. */
  async run(name: string, spec: ExperimentSpec, source: OperationSource | null = null): Promise<ExperimentResult> {
    const { progress, cancelled, versions } = this.environment;
    progress?.(this.runs.length, name);
    const result = await runExperiment(spec, {
      ...(source === null ? {} : { source }),
      ...(cancelled === undefined ? {} : { cancelled }),
      ...(versions === undefined ? {} : { versions }),
    });
    if (result.partial !== null) throw new CancelledError(`interrupted during ${name}`);
    if (result.metrics['host.failed'] > 0) {
      throw new SimulationError(
        'ERR_REPRODUCTION',
        `${name}: the drive failed ${result.metrics['host.failed']} requests`,
      );
    }
    this.runs.push({ name, specHash: result.specHash, seed: result.seed });
    return result;
  }

  /** The same experiment with every seed. */
  async overSeeds(name: string, spec: ExperimentSpec, trace: Trace | null = null): Promise<ExperimentResult[]> {
    const results: ExperimentResult[] = [];
    for (const seed of this.seeds) results.push(await this.run(name, { ...spec, seed }, trace?.source() ?? null));
    return results;
  }
}

/** Runs a study. @throws CancelledError, and what its experiments throw. */
export async function reproduce(study: Study, environment: LabEnvironment = {}): Promise<Reproduction> {
  const { id, title, paper, tightness, scale } = study;
  const seeds = environment.seeds ?? Array.from({ length: study.seeds }, (_, i) => i + 1);
  const lab = new Lab(seeds, environment);
  const { claims, figures, tables = [], notes = [] } = await study.run(lab);
  return {
    schema: 'flashstack.reproduction/1',
    id,
    title,
    paper,
    tightness,
    scale,
    seeds,
    claims,
    figures,
    tables,
    notes,
    runs: lab.runs,
    versions: environment.versions ?? {},
  };
}
