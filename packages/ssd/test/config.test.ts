import { defaultVssimDelays } from '@flashstack/nand-device';
import { InputError, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { checkSsdConfig, presets, resolvePreset, Ssd, type SsdConfig, scaleSsd } from '../src/index.js';
import { bufferedDrive, onScheduler, plainDrive } from './small-drives.js';

function refusal(action: () => unknown): InputError {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const check = (changes: object): InputError =>
  refusal(() => checkSsdConfig({ ...bufferedDrive, ...changes } as SsdConfig));

describe('an impossible configuration is refused with its key, what was found and what is expected', () => {
  const buffer = bufferedDrive.buffer as NonNullable<SsdConfig['buffer']>;
  const link = bufferedDrive.link as NonNullable<SsdConfig['link']>;
  const cases: [object, string][] = [
    [{ blockByte: 512 }, 'blockByte: unknown key; did you mean blockBytes?'],
    [{ blockBytes: 1000 }, 'blockBytes: expected a power of two of at least 512, found 1000'],
    [{ blockBytes: 8192 }, 'a slot of 4096 bytes must hold 1 to 32 whole blocks'],
    [{ capacityBytes: 4097 }, 'capacityBytes: expected a multiple of the slot of 4096 bytes, found 4097'],
    [{ link: { ...link, duplx: 'full' } }, 'link.duplx: unknown key; did you mean duplex?'],
    [{ link: { ...link, duplex: 'ful' } }, 'link.duplex: expected one of full, half, found "ful"; did you mean full?'],
    [{ link: { ...link, chunkBytes: 6000 } }, 'link.chunkBytes: expected a multiple of the slot'],
    [
      { firmware: { ...bufferedDrive.firmware, cores: 0 } },
      'firmware.cores: expected an integer from 1 to 1024, found 0',
    ],
    [{ firmware: { ...bufferedDrive.firmware, readNs: 1.5 } }, 'firmware.readNs: expected an integer'],
    [{ buffer: { ...buffer, slots: 0 } }, 'buffer.slots: expected an integer from 1'],
    [{ buffer: { ...buffer, lowWatermark: 0.5 } }, 'buffer.lowWatermark: must not exceed highWatermark (0), found 0.5'],
    [{ buffer: { ...buffer, earlyCompletion: 1 } }, 'buffer.earlyCompletion: expected true or false, found 1'],
    [{ queue: { depth: 0, queues: 1 } }, 'queue.depth: expected an integer from 1'],
    [{ queue: { depth: 1 } }, 'queue.queues: is missing'],
    [{ scheduler: { ...bufferedDrive.scheduler, kind: 'evnt' } }, 'did you mean event?'],
    [{ scheduler: { ...bufferedDrive.scheduler, kind: 'vssim' } }, 'scheduler.vssim: is missing'],
    [{ scheduler: { ...bufferedDrive.scheduler, vsim: {} } }, 'scheduler.vsim: unknown key'],
    [{ keeps: 'content' }, 'did you mean contents?'],
    [{ gatherNs: -1 }, 'gatherNs: expected an integer from 0'],
    [{ firmware: null }, 'firmware: expected an object, found null'],
    [{ firmware: { ...bufferedDrive.firmware, hostNs: 500 } }, 'firmware.hostNs: needs hostCore: true'],
    [{ firmware: { ...bufferedDrive.firmware, gcCore: true } }, 'firmware.gcCore: has nothing to do: set gcPageNs'],
    [{ firmware: { ...bufferedDrive.firmware, gcCores: 1 } }, 'firmware.gcCores: unknown key; did you mean gcCore?'],
    [
      { firmware: { ...bufferedDrive.firmware, cores: 4, binding: 'channel' } },
      'firmware.cores: expected at most one core per channel (2) with binding channel, found 4',
    ],
    [{ buffer: { ...buffer, kind: 'double' } }, 'buffer.drain: a double buffer drains a half when it is full'],
    [{ buffer: { ...buffer, kind: 'double', drain: 'full', slots: 1 } }, 'buffer.slots: a double buffer needs'],
    [
      { buffer: { ...buffer, kind: 'double', drain: 'full', earlyCompletion: false } },
      'buffer.earlyCompletion: must be true with kind: double',
    ],
    [
      { buffer: { ...buffer, drain: 'full', earlyCompletion: false } },
      'buffer.drain: expected eager with earlyCompletion: false, found "full": every write waits for its program',
    ],
    [{ buffer: { ...buffer, timerNs: 1000 } }, 'buffer.timerNs: has a meaning only with drain: timer or kind: double'],
    [{ buffer: { ...buffer, idleNs: 1000 } }, 'buffer.idleNs: has a meaning only with drain: idle'],
    [
      { readCache: { slots: 10, readAheadSlots: 6, after: 2 } },
      'readCache.readAheadSlots: expected at most half of the 10 slots of the cache, found 6',
    ],
    [{ readCache: { slots: 10, readAheadSlots: 0 } }, 'readCache.after: is missing'],
    [{ ftl: { copyback: true } }, 'ftl.copyback: the part has no copyback: set nand.features.copyback: true'],
    [
      { ftl: { copyback: true, domain: 'die' } },
      'needs pages of one slot (found 1), programUnit page (found page) and ftl.domain unit (found die)',
    ],
    [{ host: { kind: 'sata' } }, 'host.kind: expected one of emmc, sata-ncq, nvme, found "sata"'],
    [{ host: { kind: 'nvme', packedCommands: 4 } }, 'host.packedCommands: belongs to kind emmc, not to nvme'],
    [{ host: { kind: 'emmc', queuedTrim: true } }, 'host.queuedTrim: belongs to kind sata-ncq, not to emmc'],
    [{ host: { kind: 'emmc' } }, 'queue.depth: expected at most 1 with host.kind emmc'],
    [
      { host: { kind: 'sata-ncq' }, queue: { depth: 64, queues: 1 } },
      'queue.depth: expected at most 32 with host.kind sata-ncq',
    ],
    [{ host: { kind: 'sata-ncq' } }, 'queue.queues: expected 1 with host.kind sata-ncq, which has one queue, found 2'],
    [{ host: { kind: 'nvme', classes: ['high'] } }, 'host.classes: has a meaning only with arbitration'],
    [
      { host: { kind: 'nvme', arbitration: 'weightedRoundRobin', classes: ['hihg'] } },
      'host.classes.0: expected one of urgent, high, medium, low, found "hihg"; did you mean high?',
    ],
    [{ host: { kind: 'nvme' }, queue: { depth: 8, queues: 300 } }, 'queue.queues: expected at most 256'],
  ];
  for (const [changes, message] of cases) {
    test(message, () => {
      const error = check(changes);
      expect(error.code).toBe('ERR_SSD_CONFIG');
      expect(error.message).toContain(message);
    });
  }

  test('everything that is wrong is listed at once', () => {
    const { message } = check({ keeps: 'x', gatherNs: -1, idleNs: -1 });
    for (const key of ['keeps', 'gatherNs', 'idleNs']) expect(message).toContain(key);
  });

  test('VSSIM is refused what it does not know, with the key', () => {
    const scheduler = { ...bufferedDrive.scheduler, kind: 'vssim', vssim: defaultVssimDelays };
    const error = check({ scheduler });
    expect(error.code).toBe('ERR_NAND_VSSIM');
    expect(error.message).toContain('nand.features.multiPlane: VSSIM has none; expected false, found true');
    const delays = { ...defaultVssimDelays, switchReedNs: 1 };
    const typo = check({ ...onScheduler(bufferedDrive, 'vssim'), scheduler: { ...scheduler, vssim: delays } });
    expect(typo.message).toContain('switchReedNs: unknown key; did you mean switchReadNs?');
  });

  test('a buffer that program units could swallow whole would never drain', () => {
    const { ftl } = plainDrive;
    const geometry = { ...plainDrive.nand.geometry, pageBytes: 16_384 };
    const config = { ...plainDrive, ftl, nand: { ...plainDrive.nand, geometry }, capacityBytes: 2700 * 4096 };
    const error = refusal(() => checkSsdConfig({ ...config, buffer: { ...buffer, slots: 24 } }));
    expect(error.message).toContain('buffer.slots: expected more than the 32 slots');
    const few = refusal(() => checkSsdConfig({ ...config, buffer: { ...buffer, slots: 80, inFlightSlots: 32 } }));
    expect(few.message).toContain('buffer.inFlightSlots: expected more than the 32 slots');
  });

  test('over-provisioning too small to collect garbage is refused when the drive is made', () => {
    const error = refusal(() => new Ssd(new Simulator(), { ...plainDrive, capacityBytes: 1530 * 4096 }));
    expect(error.message).toContain('over-provisioning');
  });

  test.each(['page', 'bast', 'segment'])('a drive too large for its flash is told of its capacity: %s', (mapping) => {
    const capacityBytes = 4096 * 4096;
    const config = { ...plainDrive, ftl: { mapping }, capacityBytes };
    const error = refusal(() => new Ssd(new Simulator(), config));
    expect(error.key).toBe('capacityBytes');
    expect(error.code).toBe('ERR_FTL_OVERPROVISIONING');
    expect(error.message).toMatch(/^capacityBytes: found 16777216, 4096 slots of 4096 bytes: /);
    expect(error.message).not.toContain('ftl.logicalSlots');
  });
});

describe('presets', () => {
  test('an unknown one is refused with the nearest name', () => {
    const error = refusal(() => resolvePreset('sata-840-pro-clas'));
    expect(error.code).toBe('ERR_UNKNOWN_NAME');
    expect(error.message).toContain('Did you mean "sata-840-pro-class"?');
  });

  test('over-provisioning of mqsim-b8 is 12.7 % of raw capacity', () => {
    const config = resolvePreset('mqsim-b8');
    const raw = 8 * 2 ** 30;
    expect(1 - config.capacityBytes / raw).toBeCloseTo(0.127, 6);
    expect(raw / config.capacityBytes - 1).toBeCloseTo(0.1455, 4);
  });

  for (const preset of presets) {
    test(`${preset.name} scales: parallelism and over-provisioning stay`, () => {
      const spare = rawBytes(preset) / preset.capacityBytes - 1;
      for (const capacity of [3e9, 8 * 2 ** 30]) {
        const scaled = resolvePreset(preset.name, { capacity });
        const { channels, ways, dies, planes, slotBytes } = preset.nand.geometry;
        expect(scaled.nand.geometry).toMatchObject({ channels, ways, dies, planes });
        expect(scaled.capacityBytes).toBe(Math.floor(capacity / slotBytes) * slotBytes);
        const found = rawBytes(scaled) / scaled.capacityBytes - 1;
        expect(found).toBeGreaterThanOrEqual(spare - 1e-9);
        expect(found).toBeLessThan(spare + 0.01);
        expect(scaled.nand.geometry.blocksPerPlane).toBeGreaterThanOrEqual(128);
        // The share of time spent erasing stays: time per page of a block.
        const perPage = (config: SsdConfig): number => config.nand.timing.eraseNs / config.nand.geometry.pagesPerBlock;
        expect(perPage(scaled) / perPage(preset)).toBeCloseTo(1, 4);
        new Ssd(new Simulator(), scaled);
      }
    });
  }

  test('a capacity that is too small names the smallest possible one, which works', () => {
    const error = refusal(() => resolvePreset('generic-tlc-nvme', { capacity: 10 * 2 ** 20 }));
    expect(error.code).toBe('ERR_SSD_CAPACITY');
    const least = Number(/Smallest possible here: (\d+) MiB/.exec(error.message)?.[1]);
    expect(resolvePreset('generic-tlc-nvme', { capacity: least * 2 ** 20 }).capacityBytes).toBe(least * 2 ** 20);
  });

  test('nonsense capacities and over-provisioning are refused', () => {
    for (const capacity of [0, -1, Number.NaN, 100]) {
      expect(refusal(() => scaleSsd(plainDrive, capacity)).code).toBe('ERR_SSD_CAPACITY');
    }
    expect(refusal(() => scaleSsd(plainDrive, 2 ** 30, -0.1)).code).toBe('ERR_SSD_CAPACITY');
  });

  test('over-provisioning can be chosen', () => {
    const scaled = resolvePreset('mqsim-b8', { overProvisioning: 0.28 });
    expect(rawBytes(scaled) / scaled.capacityBytes - 1).toBeCloseTo(0.28, 2);
  });
});

function rawBytes(config: SsdConfig): number {
  const { channels, ways, dies, planes, blocksPerPlane, pagesPerBlock, pageBytes } = config.nand.geometry;
  return channels * ways * dies * planes * blocksPerPlane * pagesPerBlock * pageBytes;
}

test('a host interface without kind is one problem, whatever else it says', () => {
  expect(check({ host: { packedCommands: 4 } }).message).toBe('impossible drive: host.kind: is missing');
});
