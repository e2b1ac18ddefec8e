import { type ExperimentResult, runExperiment } from '@flashstack/experiment';
import { figureFiles, renderReport } from '../src/index.js';

/** What a runner times: `run(n)` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  readonly n: number;
  run(n: number): void;
  readonly passes?: number;
  readonly warmups?: number;
  /** Operations per CPU-second that must be reached. */
  readonly bar?: number;
  /** What to know beside the rate. */
  report?(): Record<string, number | string>;
}

/** A long run: mostly reads, so that the bench itself does not take minutes. */
const REQUESTS = 10_000_000;
const long = await longRun();
const seeds: ExperimentResult[] = [long, ...[2, 3, 4, 5].map((seed) => ({ ...long, seed }))];

async function longRun(): Promise<ExperimentResult> {
  return await runExperiment({
    device: { preset: 'mqsim-b8', capacityBytes: 128 * 2 ** 20, overProvisioning: 0.28 },
    workload: { kind: 'random', parameters: { requests: REQUESTS, readShare: 0.98 } },
    precondition: 'steady',
    loop: { kind: 'closed', depth: 16 },
  });
}

let bytes = 0;

function reports(results: readonly ExperimentResult[]): (n: number) => void {
  return (n) => {
    for (let i = 0; i < n; i++) bytes = Buffer.byteLength(renderReport(results));
  };
}

const size = (): Record<string, number | string> => ({ bytes, requests: REQUESTS });

export const benchmarks: Benchmark[] = [
  {
    // The bar: under three seconds of CPU for the first report of a process, so nothing is warmed up.
    name: 'report of a run of 10 million requests, first in the process',
    n: 1,
    passes: 1,
    warmups: 0,
    bar: 1 / 3,
    run: reports([long]),
    report: size,
  },
  { name: 'report of a run of 10 million requests', n: 5, run: reports([long]), report: size },
  { name: 'comparison of 5 seeds', n: 5, run: reports(seeds), report: size },
  {
    name: 'figures of a run as SVG',
    n: 5,
    run: (n) => {
      for (let i = 0; i < n; i++) bytes = figureFiles([long]).reduce((sum, file) => sum + file.svg.length, 0);
    },
    report: size,
  },
];
