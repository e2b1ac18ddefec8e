// A module of a user's own: a victim policy, a workload and a drive, named by the specs of the tests.
import { type BlockTable, ClosedRing, type VictimPolicy } from '@flashstack/ftl';
import type { StrategyKind } from '@flashstack/sim';
import { presets as known, type SsdConfig } from '@flashstack/ssd';
import { SyntheticSource, type WorkloadFactory } from '@flashstack/workloads';

/** The block closed first, unless it holds more valid slots than `most` allows: then the one closed after it. */
class OldestBut implements VictimPolicy {
  private readonly most: number;
  private ring!: ClosedRing;
  private blocks!: BlockTable;

  constructor(most: number) {
    this.most = most;
  }

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
    this.ring = new ClosedRing(blocks);
  }

  closed(block: number): void {
    this.ring.add(block);
  }

  invalidated(): void {
    // Order of closing does not change.
  }

  removed(block: number): void {
    this.ring.remove(block);
  }

  choose(domain: number): number {
    const first = this.ring.head[domain];
    if (first < 0 || this.blocks.valid[first] <= this.most * this.blocks.capacity[first]) return first;
    const second = this.ring.next[first];
    return second < 0 ? first : second;
  }

  reset(): void {
    this.ring.clear();
  }
}

export const victims: readonly StrategyKind<VictimPolicy>[] = [
  {
    name: 'oldest-but',
    summary: 'The oldest block, unless it is too full.',
    parameters: [{ name: 'most', type: 'number', default: 0.9, min: 0, max: 1, help: 'Share that may be valid.' }],
    create: (values) => new OldestBut(values.most as number),
  },
];

export const workloads: readonly StrategyKind<WorkloadFactory>[] = [
  {
    name: 'first-half',
    summary: 'Random writes to the first half of the drive.',
    parameters: [{ name: 'requests', type: 'integer', default: 1000, min: 1, help: 'Number of requests.' }],
    create: (values) => (bytes, random) =>
      new SyntheticSource({ pattern: 'random', rangeBytes: bytes / 2, requests: values.requests as number }, random),
  },
];

const base = known.find(({ name }) => name === 'mqsim-b8') as SsdConfig;

export const presets: readonly SsdConfig[] = [{ ...base, name: 'my-drive', summary: 'A drive of my own.' }];
