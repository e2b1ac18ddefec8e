import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, it } from 'vitest';
import { type ZonedConformanceFixture, type ZoneShape, zonedDeviceConformance } from '../src/conformance/index.js';
import {
  type BlockDevice,
  type BlockFeatures,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  MemoryDevice,
  validateRequest,
  ZonedMemoryDevice,
  ZoneOp,
  ZoneState,
  type ZoneTable,
} from '../src/index.js';

const features: BlockFeatures = { fua: true, volatileCache: true, discard: false, atomicBlocks: 1, keeps: 'contents' };
const shape: ZoneShape = { zoneCount: 8, zoneBlocks: 16, zoneCapacityBlocks: 12, maxOpen: 3, maxActive: 5 };

/** Names of the tests of the suite that fail. */
function failures(factory: () => ZonedConformanceFixture): string[] {
  const failed: string[] = [];
  const test = (name: string, body: () => void): void => {
    try {
      body();
    } catch {
      failed.push(name);
    }
  };
  zonedDeviceConformance({ test, factory, capabilities: features, shape });
  return failed;
}

/** Fixture of a device in memory, whose parts a defect may change first. */
function fixture(spoil: (parts: Parts) => Partial<ZonedConformanceFixture> = () => ({})): ZonedConformanceFixture {
  const simulator = new Simulator();
  const random = new RandomSource(5).stream('power');
  const memory = new ZonedMemoryDevice({ ...shape, blockBytes: 512, features });
  const sound: ZonedConformanceFixture = {
    device: memory,
    simulator,
    powerCut: () => memory.powerCut(random),
    failZone: (zone, state) => memory.failZone(zone, state),
  };
  return { ...sound, ...spoil({ memory, simulator, random }) };
}

interface Parts {
  readonly memory: ZonedMemoryDevice;
  readonly simulator: Simulator;
  readonly random: ReturnType<RandomSource['stream']>;
}

/** Replaces a method, private or not, by one that is given the original; the fixture stays the same. */
function patch(
  target: object,
  name: string,
  make: (original: (...args: never[]) => unknown) => unknown,
): Partial<ZonedConformanceFixture> {
  const methods = target as Record<string, (...args: never[]) => unknown>;
  methods[name] = make(methods[name].bind(target)) as (...args: never[]) => unknown;
  return {};
}

/** Changes what a table says to requests. */
function patchAdmit(
  zones: ZoneTable,
  admit: (request: BlockRequest, sound: () => number) => number,
): Partial<ZonedConformanceFixture> {
  return patch(
    zones,
    'admit',
    (original) => (request: BlockRequest) => admit(request, () => original(request as never) as number),
  );
}

/** A device with other ways to submit. */
function submitting({ memory }: Parts, submit: (request: BlockRequest) => void): Partial<ZonedConformanceFixture> {
  const { blockBytes, blockCount, zones } = memory;
  const device: BlockDevice = { blockBytes, blockCount, features, zones, submit };
  return { device };
}

/** What may be wrong, and the beginning of the name of a test that must notice. */
const defects: Record<string, [caughtBy: string, spoil: (parts: Parts) => Partial<ZonedConformanceFixture>]> = {
  'does not say where an append went': [
    'places appends',
    ({ memory }) =>
      patchAdmit(memory.zones, (request, sound) => {
        const status = sound();
        request.placed = request.block;
        return status;
      }),
  ],
  'gives the place of an append in block': [
    'places appends',
    (parts) =>
      submitting(parts, (request) => {
        const { owner } = request;
        request.owner = {
          ioDone(done) {
            if (done.op === ZoneOp.append && done.status === 0) done.block = done.placed;
            done.owner = owner;
            owner.ioDone(done);
          },
        };
        parts.memory.submit(request);
      }),
  ],
  'stores an append at the start of its zone': [
    'places appends',
    ({ memory }) =>
      patch(
        memory,
        'write',
        (original) => (request: BlockRequest) => original(request as never, request.block as never),
      ),
  ],
  'takes writes anywhere': [
    'refuses writes that are not at the pointer',
    ({ memory }) =>
      patchAdmit(memory.zones, (_request, sound) => {
        const status = sound();
        return status === BlockStatus.zoneInvalidWrite ? BlockStatus.ok : status;
      }),
  ],
  'opens a zone for a write that it refuses': [
    'refuses writes that are not at the pointer',
    ({ memory: { zones } }) =>
      patchAdmit(zones, (request, sound) => {
        const status = sound();
        const zone = Math.floor(request.block / zones.zoneBlocks);
        if (status === BlockStatus.zoneInvalidWrite && zones.stateOf(zone) === ZoneState.empty) {
          zones.set(zone, ZoneState.closed, 0);
        }
        return status;
      }),
  ],
  'writes the part that fits': [
    'refuses writes that are not at the pointer',
    ({ memory: { zones } }) =>
      patchAdmit(zones, (request, sound) => {
        const status = sound();
        if (status === BlockStatus.zoneBoundary) {
          zones.set(Math.floor(request.block / zones.zoneBlocks), ZoneState.full, 0);
        }
        return status;
      }),
  ],
  'takes a write into the gap behind the capacity': [
    'takes writes at the write pointer',
    ({ memory }) =>
      patchAdmit(memory.zones, (_request, sound) => {
        const status = sound();
        return status === BlockStatus.zoneFull ? BlockStatus.ok : status;
      }),
  ],
  'says ioError for whatever it refuses': [
    'refuses writes that are not at the pointer',
    ({ memory }) =>
      patchAdmit(memory.zones, (_request, sound) => (sound() === 0 ? BlockStatus.ok : BlockStatus.ioError)),
  ],
  'leaves the contents of a zone that was reset': [
    'leads a zone that is full',
    ({ memory }) => patch(memory, 'zero', () => () => {}),
  ],
  'leaves the pointer of a zone that was finished': [
    'leads a zone that is closed',
    ({ memory: { zones } }) =>
      patch(zones, 'change', (original) => (zone: number, state: number) => {
        const { written } = zones as unknown as { written: Float64Array };
        const before = written[zone];
        original(zone as never, state as never);
        if (state === ZoneState.full) written[zone] = before;
      }),
  ],
  'resets a zone that is read only': [
    'leads a zone that is readOnly',
    ({ memory: { zones } }) =>
      patchAdmit(zones, (request, sound) => {
        const status = sound();
        const one = request.op === ZoneOp.reset && request.count === zones.zoneBlocks;
        if (!one || status !== BlockStatus.zoneInvalidTransition) return status;
        zones.set(request.block / zones.zoneBlocks, ZoneState.empty, 0);
        return BlockStatus.ok;
      }),
  ],
  'closes a zone that is empty': [
    'leads a zone that is empty',
    ({ memory }) => patchAdmit(memory.zones, (request, sound) => sound() && (request.op === ZoneOp.close ? 0 : 9)),
  ],
  'reads a zone that is offline': [
    'reads a zone that is read only',
    ({ memory }) => patchAdmit(memory.zones, (request, sound) => (request.op === BlockOp.read ? 0 : sound())),
  ],
  'closes the zone opened last': [
    'closes the zone opened first',
    ({ memory: { zones } }) =>
      patch(zones, 'closeSurplus', (original) => () => {
        const list = zones as unknown as { oldest: number; newest: number; before: Int32Array };
        const surplus = zones.openZones > zones.maxOpen;
        if (surplus && list.before[list.newest] >= 0) list.oldest = list.before[list.newest];
        original();
      }),
  ],
  'closes zones that were opened explicitly': [
    'closes the zone opened first',
    ({ memory: { zones } }) =>
      patchAdmit(zones, (_request, sound) => {
        const status = sound();
        if (status !== BlockStatus.tooManyOpenZones) return status;
        let zone = 0;
        while (zones.stateOf(zone) !== ZoneState.explicitlyOpen) zone++;
        zones.set(zone, ZoneState.closed, zones.writePointerOf(zone) - zone * zones.zoneBlocks);
        return sound();
      }),
  ],
  'has no limit of active zones': [
    'opens no more zones than may be active',
    ({ memory: { zones } }) => patch(zones, 'mayActivate', () => () => true),
  ],
  'opens empty zones with all others': [
    'applies a command to several zones',
    ({ memory: { zones } }) =>
      patch(zones, 'commandSeveral', () => (op: number, first: number, blocks: number) => {
        const { command } = zones as unknown as { command(op: number, zone: number): number };
        for (let at = 0; at * zones.zoneBlocks < blocks; at++) command.call(zones, op, first + at);
        return BlockStatus.ok;
      }),
  ],
  'applies the rules late and out of order': [
    'places appends',
    (parts) => {
      const { memory, simulator, random } = parts;
      return submitting(parts, (request) => {
        validateRequest(memory, request);
        simulator.after(random.below(1000), { fire: () => memory.submit(request) }, 0);
      });
    },
  ],
  'loses what was flushed in a power cut': [
    'keeps the start of each zone',
    ({ memory, random }) => ({
      powerCut() {
        (memory as unknown as { durable: Float64Array }).durable.fill(0);
        memory.powerCut(random);
      },
    }),
  ],
  'leaves zones open over a power cut': [
    'keeps the start of each zone',
    ({ memory }) => patch(memory.zones, 'powerCut', () => () => {}),
  ],
  'leaves a hole below the pointer after a power cut': [
    'keeps the start of each zone',
    ({ memory, random }) => ({
      powerCut() {
        memory.powerCut(random);
        for (let zone = 0; zone < shape.zoneCount; zone++) {
          const start = zone * shape.zoneBlocks;
          if (memory.zones.writePointerOf(zone) > start + 1) {
            (memory as unknown as { zero(block: number, count: number): void }).zero(start, 1);
          }
        }
      },
    }),
  ],
  'does not check requests': [
    'refuses malformed requests',
    (parts) => submitting(parts, (request) => request.owner.ioDone(request)),
  ],
};

describe('the conformance suite of zoned devices itself', () => {
  it('passes a sound device, also one that answers late and out of order', () => {
    expect(failures(() => fixture())).toEqual([]);
    const late = (parts: Parts): Partial<ZonedConformanceFixture> =>
      submitting(parts, (request) => {
        const { owner } = request;
        const submitted = request;
        submitted.owner = {
          ioDone(done) {
            parts.simulator.after(parts.random.below(100_000), { fire: () => owner.ioDone(done) }, 0);
            done.owner = owner;
          },
        };
        parts.memory.submit(submitted);
      });
    expect(failures(() => fixture(late))).toEqual([]);
  });

  it.each(Object.entries(defects))('catches a device that %s', (_name, [caughtBy, spoil]) => {
    const failed = failures(() => fixture(spoil));
    expect(failed.filter((test) => test.startsWith(caughtBy))).toHaveLength(1);
  });

  it('catches a device without zones, and one with other limits than it says', () => {
    const plain = (): ZonedConformanceFixture => ({
      device: new MemoryDevice({ blockCount: 128 }),
      simulator: new Simulator(),
    });
    expect(failures(plain).length).toBeGreaterThan(15);
    const other = (): ZonedConformanceFixture => ({
      device: new ZonedMemoryDevice({ ...shape, maxOpen: 4, features }),
      simulator: new Simulator(),
    });
    expect(failures(other)).toContain('describes itself and its zones as declared');
  });
});
