import {
  lookupStrategy,
  RandomSource,
  SimulationError,
  Simulator,
  StatsRegistry,
  type TimeSeriesRecord,
} from '@flashstack/sim';
import { Ssd } from '@flashstack/ssd';
import { type OperationSource, Replay, type ReplayStats } from '@flashstack/workloads';
import { analyse } from './analysis.js';
import { canonicalJson } from './canonical-json.js';
import { distributionsOf } from './distributions.js';
import { equip } from './equip.js';
import { type Extensions, noExtensions } from './extensions.js';
import { prepareDrive } from './prepare-drive.js';
import { resolveDevice, resolveSpec } from './resolve-spec.js';
import { type ExperimentResult, RESULT_SCHEMA } from './result.js';
import { DriveSampler } from './sampler.js';
import { segmentShapeOf } from './segment-shape.js';
import { sha256 } from './sha256.js';
import type { ExperimentSpec, ResolvedSpec } from './spec.js';
import { WarmupPhase } from './warm-up.js';
import { writeFlowOf } from './write-flow.js';

/** Requests between two looks at the world outside: few enough for Ctrl-C to be seen soon, also on a slow run. */
const DEFAULT_SLICE = 1000;

/** How far a run is. */
export interface ExperimentProgress {
  /** `prepare`: preconditioning is about to begin; `run`: requests are being replayed. */
  readonly phase: 'prepare' | 'run';
  readonly requests: number;
  /** Requests of all passes, −1 if unknown. */
  readonly of: number;
  /** Simulated time since the start of the replay, ns. */
  readonly simulatedNs: number;
}

/** Reads the machine's clocks. Absent where there is none, such as in a browser. */
export interface RunClock {
  /** CPU time of the process so far, seconds. */
  cpuSeconds(): number;
  /** Largest resident memory of the process so far, bytes. */
  maxRssBytes(): number;
}

/** What an experiment gets from outside. None of it changes the result, except `source`. */
export interface ExperimentEnvironment {
  /** Operations of a workload of kind `given`. */
  readonly source?: OperationSource;
  /** Strategies, workloads and presets that the spec may name. Default: those that come with the project. */
  readonly extensions?: Extensions;
  /** Makes the `run.` group of metrics. */
  readonly clock?: RunClock;
  /** Versions to name in the result. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Called before preconditioning, after it, and after every slice of requests; may wait. */
  readonly progress?: (progress: ExperimentProgress) => void | Promise<void>;
  /** Asked after every slice: true ends the run with a partial result. */
  readonly cancelled?: () => boolean;
  /** Requests per slice. Default 1,000. */
  readonly sliceRequests?: number;
  /** A drive saved by `saveImage` of a run with equal device, precondition, seed and modules, instead of preparing one. */
  readonly image?: Uint8Array;
  /** Takes the prepared drive as bytes. */
  readonly saveImage?: (image: Uint8Array) => void;
  /** Given the drive just before the first request, to attach traces and probes of its flash (`ssd.probe` is taken). */
  readonly observe?: (ssd: Ssd) => void;
}

/** A spec with its hash. */
export interface HashedSpec {
  readonly spec: ResolvedSpec;
  /** SHA-256 of the spec as canonical JSON. */
  readonly specHash: string;
}

/** Resolves a spec and hashes it. @throws InputError as `resolveSpec` and `canonicalJson`. */
export function hashSpec(
  spec: ExperimentSpec,
  source: OperationSource | null = null,
  extensions: Extensions = noExtensions,
): HashedSpec {
  const resolved = resolveSpec(spec, source, extensions);
  return { spec: resolved, specHash: sha256(canonicalJson(resolved)) };
}

/**
 * Runs one stack under one workload and returns one self-describing result. Everything but the `run.` metrics follows
 * from the spec, the seed and the operations given.
 * @throws InputError for a spec that is wrong, ReplayError for a workload that does not fit the drive, SimulationError
 * if requests are lost.
 */
export async function runExperiment(
  spec: ExperimentSpec,
  environment: ExperimentEnvironment = {},
): Promise<ExperimentResult> {
  const { source: given = null, extensions = noExtensions, clock, progress, cancelled } = environment;
  const { sliceRequests = DEFAULT_SLICE } = environment;
  const { spec: resolved, specHash } = hashSpec(spec, given, extensions);
  const config = resolveDevice(spec, extensions);
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, equip(config, extensions), { seed: resolved.seed });
  const source = given ?? generate(resolved, ssd, extensions);
  const { seed, loop, repeat, address, verify } = resolved;
  const replay = new Replay(simulator, ssd, source, { seed, loop, repeat, address, verify });

  const preparedFrom = clock?.cpuSeconds() ?? 0;
  await progress?.({ phase: 'prepare', requests: 0, of: replay.total, simulatedNs: 0 });
  const preconditioned = prepareDrive(ssd, resolved, environment);
  const runFrom = clock?.cpuSeconds() ?? 0;

  const registry = new StatsRegistry();
  const sampler = new DriveSampler(ssd);
  environment.observe?.(ssd);
  sampler.register(registry);
  replay.stats.register(registry.layer('host'));
  ssd.registerStats(registry);
  registry.gauge('sim.elapsedNs', () => simulator.now);
  registry.gauge('sim.events', () => simulator.events);
  const warmup = new WarmupPhase(resolved.warmup, ssd, replay, sampler);

  await progress?.({ phase: 'run', requests: 0, of: replay.total, simulatedNs: simulator.now });
  let stopped = false;
  const done = (): number => replay.stats.completed + replay.stats.failed + (warmup.record?.requests ?? 0);
  while (!replay.advance(Math.min(sliceRequests, warmup.requestsLeft))) {
    if (warmup.requestsLeft <= 0) warmup.end();
    await progress?.({ phase: 'run', requests: done(), of: replay.total, simulatedNs: simulator.now });
    if (cancelled?.() === true && !stopped) {
      stopped = true;
      replay.stop();
    }
  }
  sampler.finish();
  if (!stopped) warmup.check();
  checkConservation(replay, ssd);
  const requests = done();
  const metrics = registry.read();
  const result: ExperimentResult = {
    schema: RESULT_SCHEMA,
    spec: resolved,
    specHash,
    seed,
    versions: environment.versions ?? {},
    partial: stopped ? { atNs: simulator.now, requests, of: replay.total } : null,
    preconditioned,
    warmup: warmup.record,
    metrics,
    histograms: Object.fromEntries([...registry.histograms].map(([name, value]) => [name, value.toRecord()])),
    series: {
      ...Object.fromEntries([...registry.allSeries].map(([name, value]) => [name, value.toRecord()])),
      ...percentileSeries(replay.stats),
    },
    heatmaps: sampler.heatmaps(),
    distributions: distributionsOf(ssd),
    writeFlow: writeFlowOf(ssd, null),
    analysis: analyse(metrics, config, sampler.observation(), stopped),
  };
  if (clock === undefined) return result;
  const cpuSeconds = clock.cpuSeconds() - runFrom;
  return {
    ...result,
    metrics: {
      ...metrics,
      'run.cpuSeconds': cpuSeconds,
      'run.prepareCpuSeconds': runFrom - preparedFrom,
      'run.requestsPerCpuSecond': cpuSeconds > 0 ? requests / cpuSeconds : 0,
      'run.maxRssBytes': clock.maxRssBytes(),
    },
  };
}

const percentiles: readonly (readonly [name: string, percent: number])[] = [
  ['p50', 50],
  ['p99', 99],
  ['p999', 99.9],
];

/** `host.{read,write}.latencyNs.{p50,p99,p999}`: one sample per window of time. */
function percentileSeries(stats: ReplayStats): Record<string, TimeSeriesRecord> {
  const series: Record<string, TimeSeriesRecord> = {};
  for (const kind of ['read', 'write'] as const) {
    for (const [name, percent] of percentiles) {
      series[`host.${kind}.latencyNs.${name}`] = stats[kind].percentilesOverTime.toRecord(percent);
    }
  }
  return series;
}

function generate(spec: ResolvedSpec, ssd: Ssd, { workloads }: Extensions): OperationSource {
  const { workload } = spec;
  if (!('parameters' in workload)) throw new SimulationError('ERR_SPEC_SOURCE', 'no operations were given');
  const kind = lookupStrategy(workloads, workload.kind, 'workload');
  return kind.create(workload.parameters)(ssd.config.capacityBytes, new RandomSource(spec.seed), segmentShapeOf(ssd));
}

/** No request may be lost, by the workload's count and by the drive's. */
function checkConservation(replay: Replay, ssd: Ssd): void {
  ssd.assertDrained();
  const { issued, completed, failed } = replay.stats;
  if (issued === completed + failed) return;
  throw new SimulationError(
    'ERR_EXPERIMENT_LOST',
    `requests are missing: ${issued} issued, ${completed} completed, ${failed} failed`,
  );
}
