import {
  Delay,
  type EventTarget,
  Histogram,
  Mutex,
  Permutation,
  RandomSource,
  Simulator,
  type Task,
  ZipfRanks,
} from '../src/index.js';

/** What the runner of the project times: `run` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
}

/** Each event schedules the next at a pseudo-random distance, so that `pending` events stay pending. */
class Hold implements EventTarget {
  private left: number;
  private state = 12_345;
  private readonly simulator: Simulator;

  constructor(simulator: Simulator, events: number) {
    this.simulator = simulator;
    this.left = events;
  }

  fire(arg: number): void {
    if (this.left-- <= 0) return;
    this.state = (Math.imul(this.state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    this.simulator.after(1 + ((this.state >>> 8) % 1000), this, arg);
  }
}

function events(pending: number): Benchmark {
  return {
    name: `event, ${pending} pending`,
    n: 1_000_000,
    run(n) {
      const simulator = new Simulator();
      const hold = new Hold(simulator, n - pending);
      for (let i = 0; i < pending; i++) simulator.after(i, hold, i);
      simulator.drain();
      if (simulator.events !== n) throw new Error(`${simulator.events} events, expected ${n}`);
    },
  };
}

function delays(processes: number): Benchmark {
  return {
    name: `delay, ${processes} process${processes === 1 ? '' : 'es'}`,
    n: 1_024_000,
    run(n) {
      const simulator = new Simulator();
      const each = n / processes;
      function* body(seed: number): Task<void> {
        const delay = new Delay(simulator);
        for (let i = 0; i < each; i++) yield delay.for(100 + ((i * 7 + seed * 13) % 50));
      }
      for (let i = 0; i < processes; i++) simulator.spawn(`p${i}`, body(i));
      simulator.run();
    },
  };
}

const resume: Benchmark = {
  name: 'resume, two processes handing a mutex over',
  n: 1_000_000,
  run(n) {
    const simulator = new Simulator({ livelockResumptions: 2 * n + 100 });
    const mutex = new Mutex(simulator, 'm');
    function* body(): Task<void> {
      for (let i = 0; i < n / 2; i++) {
        if (!mutex.tryLock()) yield mutex;
        yield pause;
        mutex.unlock();
      }
    }
    const pause = { arm: () => true, describe: () => 'nothing' };
    simulator.spawn('a', body());
    simulator.spawn('b', body());
    simulator.run();
  },
};

const advance: Benchmark = {
  name: 'tryAdvance in a lone process',
  n: 10_000_000,
  run(n) {
    const simulator = new Simulator();
    function* body(): Task<void> {
      const delay = new Delay(simulator);
      for (let i = 0; i < n; i++) if (!simulator.tryAdvance(100)) yield delay.for(100);
    }
    simulator.spawn('p', body());
    simulator.run();
    if (simulator.now !== 100 * n) throw new Error(`now is ${simulator.now}`);
  },
};

/** Draws or records `n` times; the sum keeps the work from being optimised away. */
function repeated(name: string, make: () => (i: number) => number): Benchmark {
  return {
    name,
    n: 2_000_000,
    run(n) {
      const operation = make();
      let sum = 0;
      for (let i = 0; i < n; i++) sum += operation(i);
      if (!(sum > 0)) throw new Error(`sum is ${sum}`);
    },
  };
}

interface EraseProbe {
  erased(block: number): void;
}

/** The smallest layer: counts erasures per block, and tells a probe if there is one. */
class Layer {
  readonly erases: Int32Array = new Int32Array(4096);
  probe: EraseProbe | null = null;

  silent(block: number): void {
    this.erases[block]++;
  }

  probed(block: number): void {
    this.erases[block]++;
    if (this.probe !== null) this.probe.erased(block);
  }
}

function probe(name: string, method: 'silent' | 'probed'): Benchmark {
  return {
    name,
    n: 50_000_000,
    run(n) {
      const layer = new Layer();
      if (method === 'silent') for (let i = 0; i < n; i++) layer.silent((i * 7) & 4095);
      else for (let i = 0; i < n; i++) layer.probed((i * 7) & 4095);
      if (layer.erases[0] === 0) throw new Error('nothing was counted');
    },
  };
}

const source = new RandomSource(1);

export const benchmarks: readonly Benchmark[] = [
  ...[1, 16, 64, 1024].map(events),
  ...[1, 16, 256].map(delays),
  resume,
  advance,
  probe('counter without a trace source', 'silent'),
  probe('counter with a trace source nobody listens to', 'probed'),
  repeated('random integer below 1,000,003', () => {
    const random = source.stream('below');
    return () => random.below(1_000_003);
  }),
  repeated('zipf 0.99 over a million', () => {
    const random = source.stream('zipf');
    const ranks = new ZipfRanks(1_000_000, 0.99);
    return () => ranks.next(random);
  }),
  repeated('permutation of a million', () => {
    const permutation = new Permutation(1_000_000, source.stream('permutation'));
    return (i) => permutation.map(i % 1_000_000);
  }),
  repeated('histogram record', () => {
    const histogram = new Histogram();
    return (i) => {
      histogram.record((i * 7919) & 0xf_ffff);
      return 1;
    };
  }),
];
