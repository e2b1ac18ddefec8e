import {
  lookupStrategy,
  RandomSource,
  SimulationError,
  Simulator,
  StatsRegistry,
  type TimeSeriesRecord,
} from '@flashstack/sim';
import { Ssd, type SsdConfig } from '@flashstack/ssd';
import {
  BlockRecorder,
  type BlockRecorderOptions,
  type OperationSource,
  RecordedDevice,
  Replay,
  type ReplayStats,
} from '@flashstack/workloads';
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
import type { ExperimentSpec, ResolvedBlockSpec, ResolvedSpec, ResolvedSystemSpec } from './spec.js';
import { fileWork, type RecordedCalls } from './system/file-work.js';
import { SystemStack } from './system/stack.js';
import { SystemRun } from './system/system-run.js';
import { WarmupPhase } from './warm-up.js';
import { type WriteFlowSource, writeFlowOf } from './write-flow.js';

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

/** What an experiment gets from outside. None of it changes the result, except `source` and `calls`. */
export interface ExperimentEnvironment {
  /** Operations of a workload of kind `given`. */
  readonly source?: OperationSource;
  /** System calls of a workload of kind `strace`. */
  readonly calls?: RecordedCalls;
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
  /** Requests per slice. Default 1,000. With a system slices follow from what happens. */
  readonly sliceRequests?: number;
  /** A drive saved by `saveImage` of a run with equal device, precondition, seed and modules, instead of preparing one. */
  readonly image?: Uint8Array;
  /** Takes the prepared drive as bytes. */
  readonly saveImage?: (image: Uint8Array) => void;
  /** Given the drive just before the first request, to attach traces and probes of its flash (`ssd.probe` is taken). */
  readonly observe?: (ssd: Ssd) => void;
  /**
   * Takes a block trace of the run as it comes, without preparation: with a system what its block layer does, otherwise
   * what the drive is asked for. Times are ns since the run began. Not for drives with zones.
   */
  readonly blockTrace?: Pick<BlockRecorderOptions, 'format' | 'write'>;
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
  source: OperationSource | RecordedCalls | null = null,
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
  const { source = null, calls = null, extensions = noExtensions } = environment;
  const hashed = hashSpec(spec, calls ?? source, extensions);
  const config = resolveDevice(spec, extensions);
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, equip(config, extensions), { seed: hashed.spec.seed });
  const run: Running = { hashed, config, ssd, environment, extensions };
  return hashed.spec.system === undefined
    ? await runRequests(run, hashed.spec)
    : await runCalls(run, hashed.spec, spec);
}

/** Requests straight to the drive. */
async function runRequests(run: Running, resolved: ResolvedBlockSpec): Promise<ExperimentResult> {
  const { ssd, environment, extensions } = run;
  const { clock, progress, cancelled, sliceRequests = DEFAULT_SLICE } = environment;
  const { simulator } = ssd;
  const source = environment.source ?? generate(resolved, ssd, extensions);
  const { seed, loop, repeat, address, verify } = resolved;
  const { blockTrace } = environment;
  const recorder = blockTrace === undefined ? null : new BlockRecorder(simulator, ssd.blockBytes, blockTrace);
  const device = recorder === null ? ssd : new RecordedDevice(ssd, recorder);
  const replay = new Replay(simulator, device, source, { seed, loop, repeat, address, verify });

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
  recorder?.end();
  const partial = stopped ? { atNs: simulator.now, requests: done(), of: replay.total } : null;
  const ended = { registry, sampler, host: null, stats: replay.stats, requests: done(), preparedFrom, runFrom };
  return resultOf(run, { ...ended, partial, preconditioned, warmup: warmup.record });
}

/** Programs on a system, whose files are on the drive. */
async function runCalls(run: Running, resolved: ResolvedSystemSpec, spec: ExperimentSpec): Promise<ExperimentResult> {
  const { ssd, environment, extensions } = run;
  const { clock, progress, cancelled, calls = null } = environment;
  const { simulator } = ssd;
  const { create } = fileWork(spec.workload, calls, extensions);
  const stack = new SystemStack(ssd, resolved.system, resolved.seed, extensions, create);
  const { workload } = stack;

  const preparedFrom = clock?.cpuSeconds() ?? 0;
  await progress?.({ phase: 'prepare', requests: 0, of: workload.total, simulatedNs: 0 });
  const preconditioned = prepareDrive(ssd, resolved, environment);
  stack.prepare();
  const recorder = environment.blockTrace === undefined ? null : stack.record(environment.blockTrace);
  const runFrom = clock?.cpuSeconds() ?? 0;

  const registry = new StatsRegistry();
  const sampler = new DriveSampler(ssd);
  environment.observe?.(ssd);
  sampler.register(registry);
  stack.register(registry);
  ssd.registerStats(registry);
  const eventsBefore = simulator.events;
  const systemRun = new SystemRun(stack, simulator, resolved.system.finalSync);
  const elapsed = (): number => simulator.now - systemRun.startNs;
  registry.gauge('sim.elapsedNs', elapsed);
  registry.gauge('sim.events', () => simulator.events - eventsBefore);

  await progress?.({ phase: 'run', requests: 0, of: workload.total, simulatedNs: 0 });
  let stopped = false;
  while (!systemRun.advance()) {
    await progress?.({ phase: 'run', requests: workload.done, of: workload.total, simulatedNs: elapsed() });
    if (cancelled?.() === true && !stopped) {
      stopped = true;
      systemRun.stop();
    }
  }
  sampler.finish();
  if (recorder !== null) stack.endRecord(recorder);
  workload.totals().register(registry.layer('calls'), systemRun.callsEndNs - systemRun.startNs);
  workload.register(registry);
  const requests = workload.done;
  const partial = stopped ? { atNs: elapsed(), requests, of: workload.total } : null;
  const ended = { registry, sampler, host: stack, stats: stack.meter.stats, requests, preparedFrom, runFrom };
  const result = resultOf(run, { ...ended, partial, preconditioned, warmup: null });
  // The figures stand: what is left only shows that nothing is lost.
  systemRun.finish(() => ssd.assertDrained());
  return result;
}

/** What a run is made of. */
interface Running {
  readonly hashed: HashedSpec;
  readonly config: SsdConfig;
  readonly ssd: Ssd;
  readonly environment: ExperimentEnvironment;
  readonly extensions: Extensions;
}

/** A run at its end. */
interface Ended extends Pick<ExperimentResult, 'partial' | 'preconditioned' | 'warmup'> {
  readonly registry: StatsRegistry;
  readonly sampler: DriveSampler;
  /** What stands above the drive; null: nothing. */
  readonly host: WriteFlowSource | null;
  /** Requests to the drive. */
  readonly stats: ReplayStats;
  readonly requests: number;
  /** CPU time of the process when the drive was about to be prepared, and when the run began, s. */
  readonly preparedFrom: number;
  readonly runFrom: number;
}

function resultOf({ hashed, config, ssd, environment }: Running, ended: Ended): ExperimentResult {
  const { registry, sampler, requests } = ended;
  const metrics = registry.read();
  const result: ExperimentResult = {
    schema: RESULT_SCHEMA,
    spec: hashed.spec,
    specHash: hashed.specHash,
    seed: hashed.spec.seed,
    versions: environment.versions ?? {},
    partial: ended.partial,
    preconditioned: ended.preconditioned,
    warmup: ended.warmup,
    metrics,
    histograms: Object.fromEntries([...registry.histograms].map(([name, value]) => [name, value.toRecord()])),
    series: {
      ...Object.fromEntries([...registry.allSeries].map(([name, value]) => [name, value.toRecord()])),
      ...percentileSeries(ended.stats),
    },
    heatmaps: sampler.heatmaps(),
    distributions: distributionsOf(ssd),
    writeFlow: writeFlowOf(ssd, ended.host),
    analysis: analyse(metrics, config, sampler.observation(), ended.partial !== null),
  };
  const { clock } = environment;
  if (clock === undefined) return result;
  const cpuSeconds = clock.cpuSeconds() - ended.runFrom;
  return {
    ...result,
    metrics: {
      ...metrics,
      'run.cpuSeconds': cpuSeconds,
      'run.prepareCpuSeconds': ended.runFrom - ended.preparedFrom,
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

function generate(spec: ResolvedBlockSpec, ssd: Ssd, { workloads }: Extensions): OperationSource {
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
