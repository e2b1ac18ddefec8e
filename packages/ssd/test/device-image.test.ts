import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { victimKinds } from '@flashstack/ftl';
import {
  InputError,
  lookupStrategy,
  RandomSource,
  resolveParameters,
  SimulationError,
  Simulator,
} from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { deviceImageLabel, loadDevice, resolvePreset, Ssd, type SsdConfig, saveDevice } from '../src/index.js';
import { onScheduler, plainDrive, variants, wideDrive } from './small-drives.js';

/** Random reads, writes, discards and flushes, eight in flight. */
function use(ssd: Ssd, seed: number, requests: number): void {
  const random = new RandomSource(seed).stream('use');
  let left = requests;
  const owner: IoOwner = {
    ioDone: (request) => {
      if (left-- <= 0) return;
      const kind = random.below(20);
      request.op = kind < 6 ? BlockOp.read : kind === 6 ? BlockOp.discard : kind === 7 ? BlockOp.flush : BlockOp.write;
      request.count = request.op === BlockOp.flush ? 0 : 1 + random.below(24);
      request.block = request.op === BlockOp.flush ? 0 : random.below(ssd.blockCount - 24);
      const tagged = request.op === BlockOp.write && ssd.config.keeps === 'contents';
      request.tags = tagged ? Uint32Array.from({ length: request.count }, () => random.nextU32()) : null;
      ssd.submit(request);
    },
  };
  for (let i = 0; i < 8; i++) owner.ioDone(new BlockRequest(owner));
  ssd.simulator.drain();
  ssd.assertDrained();
}

/** Saves a used drive, loads it into a new one, uses both alike, and compares everything there is. */
function expectSameLife(config: SsdConfig, prepare: (ssd: Ssd) => void): void {
  const first = new Ssd(new Simulator(), config, { seed: 3 });
  prepare(first);
  const image = saveDevice(first, 'label');
  const second = new Ssd(new Simulator(), config, { seed: 99 });
  // As a file is read in Node.
  expect(loadDevice(second, Buffer.from(image))).toBe('label');
  expect(Buffer.compare(saveDevice(second, 'label'), image)).toBe(0);
  use(first, 11, 600);
  use(second, 11, 600);
  second.flash.ftl.inspect();
  expect(second.simulator.now).toBe(first.simulator.now);
  expect(Buffer.compare(saveDevice(second), saveDevice(first))).toBe(0);
}

describe('a drive that was saved and loaded goes on as the saved one does', () => {
  for (const { drive, kind } of variants) {
    test(`${drive.name}, ${kind}`, () => {
      expectSameLife(onScheduler(drive, kind), (ssd) => use(ssd, 5, 1500));
    });
  }

  test("a strategy of one's own, given as an object: its state is saved with the drive", () => {
    const fifo = lookupStrategy(victimKinds, 'fifo');
    // A policy belongs to one drive: each gets its own.
    const config = (): SsdConfig => ({
      ...plainDrive,
      capacityBytes: 500 * 4096,
      ftl: { victim: fifo.create(resolveParameters(fifo)) },
    });
    const first = new Ssd(new Simulator(), config(), { seed: 3 });
    use(first, 5, 3000);
    const second = new Ssd(new Simulator(), config(), { seed: 3 });
    loadDevice(second, saveDevice(first));
    use(first, 11, 600);
    use(second, 11, 600);
    expect(second.simulator.now).toBe(first.simulator.now);
    expect(Buffer.compare(saveDevice(second), saveDevice(first))).toBe(0);
  });

  for (const { name: victim } of victimKinds) {
    test(`victims by ${victim}`, () => {
      const ftl = { victim, streams: 'hot-cold', wearLevelling: { kind: 'threshold' } } as const;
      const config: SsdConfig = { ...plainDrive, capacityBytes: 500 * 4096, ftl };
      expectSameLife(config, (ssd) => use(ssd, 5, 3000));
    });
  }

  for (const mapping of ['block', 'bast', 'sast', 'fast', 'last']) {
    test(`mapped by ${mapping}`, () => {
      const config: SsdConfig = { ...plainDrive, capacityBytes: 500 * 4096, ftl: { mapping } };
      expectSameLife(config, (ssd) => use(ssd, 5, 3000));
    });
  }

  test('presets after preconditioning', () => {
    for (const name of ['generic-tlc-nvme', 'emmc-5.0', 'mqsim-b8']) {
      expectSameLife(resolvePreset(name, { capacity: 2 ** 30 }), (ssd) => {
        ssd.precondition('steady');
      });
    }
  });

  test('after a power cut', () => {
    expectSameLife(wideDrive, (ssd) => {
      use(ssd, 5, 800);
      ssd.powerCut();
      ssd.powerOn();
      ssd.simulator.drain();
    });
  });
});

describe('saving and loading refuse', () => {
  test('a drive with requests in flight', () => {
    const ssd = new Ssd(new Simulator(), plainDrive);
    const request = new BlockRequest({ ioDone: () => undefined });
    request.op = BlockOp.read;
    request.count = 1;
    ssd.submit(request);
    expect(() => saveDevice(ssd)).toThrow(SimulationError);
    expect(() => saveDevice(ssd)).toThrow('cannot save: 1 requests in flight');
  });

  test('another drive, naming the first difference', () => {
    const image = saveDevice(new Ssd(new Simulator(), plainDrive), 'x');
    expect(deviceImageLabel(image)).toBe('x');
    const other = new Ssd(new Simulator(), { ...plainDrive, ftl: { victim: 'fifo' } });
    expect(() => loadDevice(other, image)).toThrow(InputError);
    expect(() => loadDevice(other, image)).toThrow('device.ftl.victim is "fifo" here, undefined there');
  });

  test('what is no image, or cut short', () => {
    const ssd = new Ssd(new Simulator(), plainDrive);
    for (const bytes of [
      new Uint8Array(0),
      new Uint8Array(3),
      new Uint8Array(100),
      new TextEncoder().encode('PK??{}'),
    ]) {
      expect(() => loadDevice(ssd, bytes)).toThrow('this is no saved drive');
    }
    const image = saveDevice(ssd);
    expect(() => loadDevice(ssd, image.subarray(0, image.length - 100))).toThrow('cut short');
  });

  test('what is damaged, wherever one bit is wrong', () => {
    const ssd = new Ssd(new Simulator(), plainDrive);
    const image = saveDevice(ssd);
    const random = new RandomSource(7).stream('damage');
    const state = image.length - 1000;
    for (let i = 0; i < 50; i++) {
      const at = i === 0 ? image.length - 1 : state + random.below(1000);
      const damaged = image.slice();
      damaged[at] ^= 1 << random.below(8);
      expect(() => loadDevice(ssd, damaged), `byte ${at}`).toThrow('the saved drive is damaged');
    }
    expect(loadDevice(ssd, image)).toBe('');
  });
});
