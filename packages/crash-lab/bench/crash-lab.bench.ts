import { BlockOp, IoBatch } from '@flashstack/block-device';
import { BaseImage, CrashDevice, CrashImages, IdentitySet } from '@flashstack/block-device/crash';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { BaseVolume } from '../src/explore/machine.js';
import { runWorkload } from '../src/explore/run-workload.js';
import { boundedWorkloads, type CrashResult, Explorer, type Workload } from '../src/index.js';
import { miniJournal } from '../test/crash-subjects.js';
import { onMiniJournal } from '../test/support.js';

/** What the runner of the project times: `run` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
  readonly bar?: number;
  report?(): Record<string, string>;
}

const { capabilities } = onMiniJournal().fileSystem;
const sample = { count: 2000, seed: 1 };
const workloads: Workload[] = [...boundedWorkloads({ length: 2, persistence: 'anywhere', capabilities }, { sample })];
const subject = miniJournal();
const settings = { overlap: false, unmount: false };

function runs(): Benchmark {
  const { device } = new BaseVolume(subject, workloads[0].base, 0);
  return {
    name: 'two-operation workloads on the miniature file system, run and recorded',
    n: 2000,
    bar: 2000,
    run(n) {
      for (let at = 0; at < n; at++) runWorkload(subject, device, workloads[at % workloads.length], settings);
    },
  };
}

function explores(): Benchmark {
  let result: CrashResult | null = null;
  return {
    name: 'images of two-operation workloads, recovered and judged',
    n: 4000,
    bar: 1000,
    run(n) {
      const explorer = new Explorer(subject, { most: 16 });
      result = explorer.result;
      for (let at = 0; result.counts.recovered < n; at++) explorer.explore(workloads[at % workloads.length]);
      if (result.counts.lost > 0) throw new Error(result.describe());
    },
    report: () => ({ found: result?.describe() ?? '' }),
  };
}

/** Twelve blocks of which each is kept or lost. */
function combines(): Benchmark {
  const device = new CrashDevice(BaseImage.blank(1024));
  runTask(
    new Simulator(),
    (function* (): Task<void> {
      const batch = new IoBatch(device);
      for (let block = 0; block < 12; block++) batch.add(BlockOp.write, block, 1).tags = Uint32Array.of(block + 1);
      yield batch;
    })(),
  );
  const images = new CrashImages(device);
  const unique = new IdentitySet();
  return {
    name: 'images made one after the other, with identity',
    n: 4096 * 250,
    run(n) {
      unique.clear();
      for (let made = 0; made < n; ) for (images.begin(); images.next(); made++) unique.add(images.low, images.high);
      if (unique.size !== 4096) throw new Error(`${unique.size} images`);
    },
  };
}

function remembers(): Benchmark {
  let set = new IdentitySet();
  return {
    name: 'different identities added to a set that grows',
    n: 4_000_000,
    run(n) {
      set = new IdentitySet();
      for (let at = 1; at <= n; at++) set.add(Math.imul(at, 0x9e3779b1), Math.imul(at, 0x85ebca6b));
      if (set.size !== n) throw new Error(`${set.size} of ${n}`);
    },
    report: () => ({ 'bytes each': (set.bytes / set.size).toFixed(1) }),
  };
}

export const benchmarks: readonly Benchmark[] = [runs(), explores(), combines(), remembers()];
