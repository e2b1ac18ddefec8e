import { BlockOp } from '@flashstack/block-device';
import type { Parameter, ParameterValues, RandomSource, StrategyKind } from '@flashstack/sim';
import type { OperationSource } from './operation.js';
import { bytes, choice, flag, share, whole } from './parameters.js';
import { ReplayError, ReplayErrorCode } from './replay-error.js';
import { parseSizes } from './request-sizes.js';
import { type SegmentOptions, type SegmentShape, SegmentSource } from './segments.js';
import { type AccessPattern, type SyntheticOptions, SyntheticSource } from './synthetic.js';

/** Makes the operations of a workload for a device of this size; `segments`: how it wants to be written, if it is append-only. */
export type WorkloadFactory = (
  deviceBytes: number,
  random: RandomSource,
  segments?: SegmentShape | null,
) => OperationSource;

const common: readonly Parameter[] = [
  whole('requests', 100_000, 1, 'requests', 'Number of requests.'),
  bytes('requestBytes', 4096, 1, 'Bytes of each request.'),
  {
    name: 'sizes',
    type: 'string',
    default: '',
    help: 'Requests of several sizes instead of requestBytes, as 4k/60:16k/30:64k/10 (per cent); empty: of one size.',
  },
  bytes('alignBytes', 0, 0, 'Requests start at multiples of this; 0: of requestBytes, or the least of sizes.'),
  bytes('offsetBytes', 0, 0, 'Start of the range addressed.'),
  bytes('rangeBytes', 0, 0, 'Size of the range addressed; 0: to the end of the device.'),
  share('readShare', 0, 'Share of the requests that read; the others write.'),
  {
    ...whole('flows', 1, 1, 'flows', 'Tenants to which the requests belong in turn, such as queues of a drive.'),
    max: 65_536,
  },
  { name: 'gapNs', type: 'number', unit: 'ns', default: 0, min: 0, help: 'Mean time between arrivals (open loops).' },
  choice(
    'gaps',
    ['constant', 'exponential'],
    'constant',
    'Equal gaps, or exponentially distributed ones (a Poisson process).',
  ),
  whole('burst', 0, 0, 'requests', 'Requests of a burst; 0: no bursts.'),
  whole('pauseNs', 0, 0, 'ns', 'Pause added between bursts.'),
  whole('onNs', 0, 0, 'ns', 'On/off arrivals: requests arrive this long, then none for offNs; 0: always on.'),
  whole('offNs', 0, 0, 'ns', 'How long no requests arrive between two times on.'),
  whole('flushEvery', 0, 0, 'writes', 'A flush after every so many writes; 0: none.'),
];
const scatter = flag('scatter', true, 'Spread popular addresses over the range by a random permutation.');

const streams = (max: number, help: string): Parameter => ({
  ...whole('streams', 0, 0, 'streams', help),
  max,
});
const byHeat = streams(64, 'Writes carry a hint, 1 (hottest) to this, each for an equal share of them; 0: none.');

/** The synthetic workloads by name, with their parameters. */
export const syntheticKinds: readonly StrategyKind<WorkloadFactory>[] = [
  kind('sequential', 'Ascending addresses, from the start again at the end of the range.', []),
  kind('random', 'Uniformly random addresses.', []),
  kind('zipf', "Popularity falls by Zipf's law.", [
    { name: 'theta', type: 'number', default: 0.99, min: 0, max: 1000, help: 'Exponent; 0 is uniform.' },
    scatter,
    byHeat,
  ]),
  kind('pareto', "Popularity as in fio's pareto distribution.", [
    { name: 'h', type: 'number', default: 0.2, min: 1e-9, max: 1 - 1e-9, help: 'Share 1 − h goes to the fraction h.' },
    scatter,
    byHeat,
  ]),
  kind('hot-cold', 'A hot and a cold part, uniform in both.', [
    share('hotFraction', 0.2, 'Hot fraction of the range.'),
    share('hotShare', 0.8, 'Share of the requests that goes to it.'),
    scatter,
    streams(2, 'With 2, writes carry a hint: 1 to the hot part, 2 to the cold one; 0: none.'),
  ]),
  {
    name: 'segments',
    summary: 'Segments (zones, superblocks) one after the other, each released before it is written again: a log.',
    parameters: [
      whole('requests', 100_000, 1, 'requests', 'Number of reads and writes.'),
      bytes('requestBytes', 65_536, 1, 'Bytes of each request.'),
      bytes('segmentBytes', 0, 0, 'Size of a segment; 0: those of an append-only drive.'),
      choice(
        'order',
        ['round-robin', 'random', 'hot-cold'],
        'round-robin',
        'Which segment comes next: in turn, any, or mostly a hot one.',
      ),
      whole('logs', 1, 1, 'segments', 'Segments written at a time, in turn.'),
      share('hotFraction', 0.2, 'hot-cold: hot fraction of the segments, from the start.'),
      share('hotShare', 0.8, 'hot-cold: share of the segments begun that are hot.'),
      ...common.filter(({ name }) => ['readShare', 'gapNs', 'gaps', 'flushEvery'].includes(name)),
    ],
    create: (values) => (deviceBytes, random, segments) => {
      const { segmentBytes, ...rest } = values as unknown as Required<Omit<SegmentOptions, 'shape'>> & {
        readonly segmentBytes: number;
      };
      return new SegmentSource({ ...rest, shape: shapeFor(segmentBytes, deviceBytes, segments ?? null) }, random);
    },
  },
];

/** The segments of the drive, or for one that can be written anywhere those of the size asked for. */
function shapeFor(segmentBytes: number, deviceBytes: number, own: SegmentShape | null): SegmentShape {
  const wrong = (message: string): ReplayError => new ReplayError(ReplayErrorCode.option, message, 'segmentBytes');
  if (own !== null) {
    if (segmentBytes === 0 || segmentBytes === own.segmentBytes) return own;
    throw wrong(
      `segmentBytes is ${segmentBytes}, but the segments of the drive are ${own.segmentBytes} bytes: leave it out`,
    );
  }
  const count = segmentBytes === 0 ? 0 : Math.floor(deviceBytes / segmentBytes);
  if (count < 2) {
    throw wrong(
      segmentBytes === 0
        ? 'segmentBytes is missing: the drive has no segments of its own (ftl.mapping segment, disaggregate or zoned)'
        : `segmentBytes must be at most half of the drive of ${deviceBytes} bytes, found ${segmentBytes}`,
    );
  }
  return {
    firstByte: 0,
    segmentBytes,
    capacityBytes: segmentBytes,
    lastCapacityBytes: segmentBytes,
    count,
    alignBytes: 1,
    release: BlockOp.discard,
    mostOpen: 0,
  };
}

function kind(pattern: AccessPattern, summary: string, own: readonly Parameter[]): StrategyKind<WorkloadFactory> {
  return {
    name: pattern,
    summary,
    parameters: [...common, ...own],
    create: (values) => (deviceBytes, random) => new SyntheticSource(optionsOf(pattern, values, deviceBytes), random),
  };
}

/** The table's values are checked already, so they have the types that the options want. */
function optionsOf(pattern: AccessPattern, values: ParameterValues, deviceBytes: number): SyntheticOptions {
  const { alignBytes, rangeBytes, sizes, ...rest } = values as unknown as Required<
    Omit<SyntheticOptions, 'pattern' | 'bytes' | 'sizes'>
  > & { readonly sizes: string };
  return {
    pattern,
    ...rest,
    rangeBytes: rangeBytes === 0 ? deviceBytes - rest.offsetBytes : rangeBytes,
    ...(alignBytes === 0 ? {} : { alignBytes }),
    ...(sizes === '' ? {} : { sizes: parseSizes(sizes) }),
  };
}
