import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, it } from 'vitest';
import { type ZonedConformanceFixture, type ZoneShape, zonedDeviceConformance } from '../src/conformance/index.js';
import { type BlockFeatures, FaultDevice, PartitionDevice, RecordingDevice, ZonedMemoryDevice } from '../src/index.js';

const all: BlockFeatures = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'contents' };
const few: BlockFeatures = { fua: false, volatileCache: true, discard: false, atomicBlocks: 4, keeps: 'contents' };
const shape: ZoneShape = { zoneCount: 8, zoneBlocks: 32, zoneCapacityBlocks: 24, maxOpen: 3, maxActive: 5 };

function suite(
  name: string,
  capabilities: BlockFeatures,
  factory: () => ZonedConformanceFixture,
  expected: ZoneShape = shape,
): void {
  describe(name, () => {
    zonedDeviceConformance({ test: it, capabilities, factory, shape: expected });
  });
}

/** The fixture of a device in memory, and of wrappers in front of it. */
function fixture(
  features: BlockFeatures,
  zones: ZoneShape = shape,
  wrap: (memory: ZonedMemoryDevice, simulator: Simulator) => ZonedConformanceFixture['device'] = (memory) => memory,
): ZonedConformanceFixture {
  const simulator = new Simulator();
  const random = new RandomSource(5).stream('power');
  const memory = new ZonedMemoryDevice({ ...zones, features });
  return {
    device: wrap(memory, simulator),
    simulator,
    powerCut: () => memory.powerCut(random),
    failZone: (zone, state) => memory.failZone(zone, state),
  };
}

const shapes: Record<string, ZoneShape> = {
  'zones without limits, of which all can be written': { ...shape, zoneCapacityBlocks: 32, maxOpen: 0, maxActive: 0 },
  'one open zone': { ...shape, maxOpen: 1, maxActive: 2 },
  'as many open zones as active ones': { ...shape, maxOpen: 2, maxActive: 2 },
  'a limit of active zones only': { ...shape, maxOpen: 0, maxActive: 2 },
  'a limit of open zones only': { ...shape, maxOpen: 2, maxActive: 0 },
  'zones that are no power of two': { zoneCount: 4, zoneBlocks: 13, zoneCapacityBlocks: 11, maxOpen: 2, maxActive: 3 },
};

for (const [label, features] of [
  ['all features', all],
  ['few features', few],
  ['a volatile cache', { ...all, volatileCache: true }],
  ['nothing kept', { ...all, keeps: 'nothing' }],
] as const) {
  suite(`zoned memory, ${label}`, features, () => fixture(features));
  suite(`recording in front of it, ${label}`, features, () =>
    fixture(features, shape, (memory, simulator) => new RecordingDevice(memory, { simulator, contents: true })),
  );
  suite(`fault-injecting in front of it, ${label}`, features, () =>
    fixture(
      features,
      shape,
      (memory, simulator) => new FaultDevice(memory, { simulator, rules: [], latencyNs: 10_000 }),
    ),
  );
}
for (const [label, zones] of Object.entries(shapes)) suite(label, few, () => fixture(few, zones), zones);

suite('partition of zoned memory', all, () => {
  const { device, failZone, ...rest } = fixture(all, { ...shape, zoneCount: 12 });
  return {
    ...rest,
    device: new PartitionDevice(device, 3 * shape.zoneBlocks, 8 * shape.zoneBlocks),
    failZone: (zone, state) => failZone?.(zone + 3, state),
  };
});
