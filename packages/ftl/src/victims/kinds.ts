import type { StrategyKind } from '@flashstack/sim';
import { CostAgeTimes } from './cost-age-times.js';
import { CostBenefit, CostBenefitBuckets, type CostBenefitForm } from './cost-benefit.js';
import { Fifo } from './fifo.js';
import { Greedy } from './greedy.js';
import type { VictimPolicy } from './policy.js';
import { DChoices, RandomThreshold } from './random.js';
import { WindowedGreedy } from './windowed-greedy.js';

const form = {
  name: 'form',
  type: 'enum',
  default: 'flash',
  values: ['flash', 'lfs'],
  help: 'age·(1−u)/(2u) of flash file systems, or age·(1−u)/(1+u) of LFS.',
} as const;

/** The victim policies that come with the package. Append your own and pass the table to what looks names up. */
export const victimKinds: readonly StrategyKind<VictimPolicy>[] = [
  {
    name: 'greedy',
    summary: 'Fewest valid slots first, from bucket lists.',
    parameters: [],
    create: () => new Greedy(),
  },
  {
    name: 'fifo',
    summary: 'The block closed first (LRW, cyclic).',
    parameters: [],
    create: () => new Fifo(),
  },
  {
    name: 'random',
    summary: 'Uniformly among closed blocks.',
    parameters: [],
    create: () => new DChoices(1),
  },
  {
    name: 'random-threshold',
    summary: 'Uniformly among closed blocks with enough invalid slots ("random++").',
    parameters: [
      {
        name: 'invalidShare',
        type: 'number',
        default: 0.1,
        min: 0,
        max: 1,
        help: 'Share of a block that must be invalid; the best block seen is taken if none has it.',
      },
    ],
    create: (values) => new RandomThreshold(values.invalidShare as number),
  },
  {
    name: 'd-choices',
    summary: 'Fewest valid slots of d closed blocks drawn at random (randomised greedy).',
    parameters: [
      { name: 'd', type: 'integer', default: 10, min: 1, max: 1_000_000, help: 'Blocks drawn, with replacement.' },
    ],
    create: (values) => new DChoices(values.d as number),
  },
  {
    name: 'windowed-greedy',
    summary: 'Fewest valid slots among the blocks closed first.',
    parameters: [
      {
        name: 'window',
        type: 'number',
        default: 0.1,
        min: 0,
        max: 1,
        help: 'Window as a share of the blocks of a domain; at least one block. 0 is FIFO, 1 is greedy.',
      },
    ],
    create: (values) => new WindowedGreedy(values.window as number),
  },
  {
    name: 'cost-benefit',
    summary: 'Largest benefit/cost with age, by an exact scan of all closed blocks.',
    parameters: [
      form,
      {
        name: 'age',
        type: 'enum',
        default: 'invalidation',
        values: ['invalidation', 'close'],
        help: 'Age since the block last lost a valid slot, or since it was closed.',
      },
    ],
    create: (values) => new CostBenefit(values.form as CostBenefitForm, values.age as 'invalidation' | 'close'),
  },
  {
    name: 'cost-benefit-buckets',
    summary: 'Cost-benefit with the age since closing, comparing one block per valid count.',
    parameters: [form],
    create: (values) => new CostBenefitBuckets(values.form as CostBenefitForm),
  },
  {
    name: 'cost-age-times',
    summary: 'Least valid/invalid ratio, weighted by age and erase count (CAT).',
    parameters: [],
    create: () => new CostAgeTimes(),
  },
];
