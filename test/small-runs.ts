import { type ExperimentSpec, noExtensions, readDocument, runExperiment } from '@flashstack/experiment';
import { Simulator } from '@flashstack/sim';
import { resolvePreset, Ssd, saveDevice } from '@flashstack/ssd';
import { readTrace, TraceSource } from '@flashstack/workloads';

/** An experiment of a fraction of a second, used where results of two engines are compared to the byte. */
export interface SmallRun {
  readonly name: string;
  readonly spec: ExperimentSpec;
  /** Fixture that holds the operations, if the workload is `given`. */
  readonly fixture?: string;
}

const MIB = 2 ** 20;

export const smallRuns: readonly SmallRun[] = [
  {
    name: 'timeline, random writes with garbage collection',
    spec: {
      device: { preset: 'mqsim-b8', capacityBytes: 512 * MIB },
      scheduler: 'timeline',
      precondition: 'steady',
      workload: { kind: 'random', parameters: { requests: 20_000, readShare: 0.3 } },
      seed: 5,
    },
  },
  {
    name: 'event, zipf over a buffered drive',
    spec: {
      device: { preset: 'generic-tlc-nvme', capacityBytes: 2048 * MIB },
      scheduler: 'event',
      precondition: 'fill',
      workload: { kind: 'zipf', parameters: { requests: 10_000, readShare: 0.5 } },
      seed: 6,
    },
  },
  {
    name: 'a recorded trace, closed loop',
    spec: {
      device: { preset: 'emmc-5.0', capacityBytes: 1024 * MIB },
      precondition: 'steady',
      workload: { kind: 'given', name: 'git-clone-commit' },
      repeat: 2,
      address: 'wrap',
    },
    fixture: 'git-clone-commit.msr.csv.gz',
  },
  {
    name: 'a binary trace, open loop',
    spec: {
      device: { preset: 'sata-840-pro-class', capacityBytes: 2048 * MIB },
      scheduler: 'event',
      precondition: 'fill',
      workload: { kind: 'given', name: 'copy-remove' },
      loop: { kind: 'open' },
      address: 'wrap',
    },
    fixture: 'copy-remove.blktrace.gz',
  },
];

/** The bytes that a text in base64 stands for, as one chunk of a stream. */
async function* chunk(base64: string): AsyncGenerator<Uint8Array> {
  yield Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** The whole result as text; `contents` is the file of the fixture in base64. */
export async function runInThisEngine(run: SmallRun, contents: string): Promise<string> {
  if (run.fixture === undefined) return JSON.stringify(await runExperiment(run.spec));
  const { trace } = await readTrace(chunk(contents), run.fixture);
  return JSON.stringify(await runExperiment(run.spec, { source: new TraceSource(trace) }));
}

/** The result of a spec as users write it, units and short forms included. */
export async function runDocumentInThisEngine(document: unknown): Promise<string> {
  return JSON.stringify(await runExperiment(readDocument(document, noExtensions).spec));
}

/** A preconditioned drive as bytes: their number, and a checksum of all of them. */
export function savedInThisEngine(): string {
  const drive = new Ssd(new Simulator(), resolvePreset('mqsim-b8', { capacity: 256 * MIB }));
  drive.precondition('steady');
  const image = saveDevice(drive);
  let sum = 0;
  for (const byte of image) sum = (Math.imul(sum, 31) + byte) | 0;
  return `${image.length} bytes, ${sum}`;
}
