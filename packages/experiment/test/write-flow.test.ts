import { BlockOp, Origin } from '@flashstack/block-device';
import { defaultReliability } from '@flashstack/nand-device';
import { RandomSource, type RandomStream } from '@flashstack/sim';
import { resolvePreset, type SsdConfig } from '@flashstack/ssd';
import type { Operation, OperationSource } from '@flashstack/workloads';
import { describe, expect, test } from 'vitest';
import { type ExperimentSpec, resultTables, runExperiment } from '../src/index.js';
import { checkAccounts, sum } from './write-flow-support.js';

const SLOT = 4096;
const names = Object.keys(Origin);

/** Which origin always writes a slot: who moves what can be told by the slot then. */
const ownerOf = (slot: number): number => 1 + (slot % 7);

/** Fills a range in order, then writes it at random; flushes now and then and at the end, so that no buffer keeps anything. */
class Traffic implements OperationSource {
  readonly count: number;
  readonly endByte: number;
  /** Bytes written by origin. */
  readonly written: Float64Array = new Float64Array(256);
  private readonly slots: number;
  private readonly parts: boolean;
  private readonly flushed: boolean;
  private random: RandomStream = new RandomSource(3).stream('traffic');
  private at = 0;

  /** `parts`: of slots, by any origin, and discards; otherwise whole slots by their owners. `flushed`: at the end. */
  constructor(slots: number, count: number, parts: boolean, flushed: boolean) {
    this.slots = slots;
    this.count = count;
    this.endByte = slots * SLOT;
    this.parts = parts;
    this.flushed = flushed;
  }

  restart(): void {
    this.at = 0;
    this.written.fill(0);
    this.random = new RandomSource(3).stream('traffic');
  }

  next(out: Operation): boolean {
    if (this.at >= this.count) return false;
    const { random, slots } = this;
    const at = this.at++;
    const slot = at < slots ? at : random.below(random.below(4) === 0 ? slots : slots >> 4);
    // So many that no write is in flight when the last of them comes.
    const last = this.flushed && at >= this.count - 32;
    const kind = random.below(100);
    Object.assign(out, { op: BlockOp.write, flags: 0, stream: 0, flow: 0, timeNs: 0, responseNs: 0 });
    out.origin = this.parts ? random.below(9) : ownerOf(slot);
    out.offsetBytes = slot * SLOT;
    out.lengthBytes = SLOT;
    if (last || kind === 0) {
      Object.assign(out, { op: BlockOp.flush, offsetBytes: 0, lengthBytes: 0 });
    } else if (this.parts && kind < 50) {
      const from = random.below(8);
      out.offsetBytes += 512 * from;
      out.lengthBytes = 512 * (1 + random.below(Math.min(24, 8 * (slots - slot) - from)));
      if (kind < 6) out.op = kind < 3 ? BlockOp.discard : BlockOp.writeZeroes;
    }
    if (out.op === BlockOp.write) this.written[out.origin] += out.lengthBytes;
    return true;
  }
}

const { nand, ...preset } = resolvePreset('mqsim-b8', {});
const shape = { channels: 2, ways: 2, dies: 1, planes: 1, blocksPerPlane: 48, pagesPerBlock: 32 };
/** 48 MiB of flash in pages of two slots, of which the host sees 24 MiB in blocks of 512 B. */
const small: SsdConfig = {
  ...preset,
  nand: { ...nand, geometry: { ...nand.geometry, ...shape, pageBytes: 2 * SLOT, slotBytes: SLOT } },
  blockBytes: 512,
  capacityBytes: 24 * 2 ** 20,
  ftl: {},
};
const buffer = { slots: 64, highWatermark: 0.75, lowWatermark: 0.25, inFlightSlots: 16 } as const;
const buffered: SsdConfig = { ...small, buffer: { ...buffer, earlyCompletion: true, drain: 'watermark' } };

/** Runs traffic on a drive; the drive's moves are counted by the slots that they move. */
async function traffic(
  device: SsdConfig,
  parts: boolean,
  more: Partial<ExperimentSpec> = {},
  { requests = 12_000, flushed = true } = {},
) {
  const source = new Traffic(Math.floor(device.capacityBytes / SLOT / 2), requests, parts, flushed);
  const moved = new Float64Array(256);
  const result = await runExperiment(
    {
      device: { config: device },
      workload: { kind: 'given', name: 'traffic' },
      loop: { kind: 'closed', depth: 8 },
      ...more,
    },
    {
      source,
      observe: ({ flash }) => {
        const nothing = (): void => {};
        const others = { opened: nothing, closed: nothing, victim: nothing, erasing: nothing, erased: nothing };
        flash.ftl.probe = {
          ...others,
          ...{ retired: nothing, parked: nothing, resumed: nothing, lost: nothing },
          moved: (lpn) => {
            if (lpn < flash.ftl.logicalSlots) moved[ownerOf(lpn)]++;
          },
        };
      },
    },
  );
  return { result, parts: result.writeFlow, written: source.written, moved };
}

describe.each(['page', 'dftl', 'block', 'bast', 'sast', 'fast', 'last'])('mapping %s', (mapping) => {
  test('whole slots: every byte programmed is charged to who wrote it, or to what the drive adds', async () => {
    const { result, parts, written, moved } = await traffic({ ...small, ftl: { mapping } }, false);
    checkAccounts(result);
    const copies = parts.filter(({ layer, cause, origin }) => layer === 'flash' && cause !== 'host' && origin !== null);
    expect(copies.length).toBeGreaterThan(6);
    for (let owner = 1; owner <= 7; owner++) {
      expect(written[owner]).toBeGreaterThan(SLOT);
      expect(sum(parts, 'device', 'written', names[owner])).toBe(written[owner]);
      expect(sum(parts, 'flash', 'host', names[owner])).toBe(written[owner]);
      const bytes = copies.filter(({ origin }) => origin === names[owner]).reduce((all, part) => all + part.bytes, 0);
      expect(bytes).toBe(moved[owner] * SLOT);
    }
    expect(sum(parts, 'buffer')).toBe(0);
  });
});

test('parts of slots, discards and zeroes through a write buffer: what it takes off and adds is told by origin', async () => {
  const { result, parts, written } = await traffic(buffered, true);
  const { metrics } = result;
  checkAccounts(result);
  for (let origin = 0; origin < 9; origin++) {
    expect(sum(parts, 'device', 'written', names[origin])).toBe(written[origin]);
    // The last flush has emptied the buffer: nothing is missing of any origin.
    const handedOn = written[origin] + sum(parts, 'buffer', undefined, names[origin]);
    expect(sum(parts, 'buffer', 'waiting', names[origin])).toBe(0);
    expect(sum(parts, 'flash', 'host', names[origin])).toBe(handedOn);
  }
  expect(metrics['ssd.bufferOverwrites']).toBeGreaterThan(1000);
  expect(metrics['ssd.readModifyWrites']).toBeGreaterThan(1000);
  expect(sum(parts, 'buffer', 'absorbed')).toBeLessThan(-metrics['ssd.bufferOverwrites'] * 512);
  expect(sum(parts, 'buffer', 'filled')).toBeGreaterThan(metrics['ssd.readModifyWrites'] * 512);
});

test('what the buffer still holds at the end waits', async () => {
  const { result, parts } = await traffic({ ...buffered, blockBytes: SLOT }, false, {}, { flushed: false });
  checkAccounts(result);
  const { metrics } = result;
  const held = metrics['health.waitingBytes'] - metrics['ftl.pendingSlots'] * SLOT;
  expect(held).toBeGreaterThan(8 * SLOT);
  expect(sum(parts, 'buffer', 'waiting')).toBe(-held);
  expect(sum(parts, 'buffer', 'absorbed')).toBe(-metrics['ssd.bufferOverwrites'] * SLOT);
  expect(sum(parts, 'buffer', 'filled')).toBe(0);
});

test('wear levelling, failed programs and retired blocks have their shares', async () => {
  const reliability = {
    ...defaultReliability(2),
    ratedCycles: 5,
    programFailShare: 1,
    eraseFailFrom: 0,
    eraseFailTo: 20,
  };
  const nand = { ...small.nand, reliability };
  const wearLevelling = { kind: 'threshold', delta: 2, interval: 1 } as const;
  const { result, parts, written, moved } = await traffic(
    { ...small, nand, ftl: { wearLevelling } },
    false,
    {},
    { requests: 20_000 },
  );
  checkAccounts(result);
  for (const cause of ['gc', 'wearLevelling', 'retirement', 'reprogrammed'] as const) {
    expect(sum(parts, 'flash', cause), cause).toBeGreaterThan(0);
  }
  for (let owner = 1; owner <= 7; owner++) {
    expect(sum(parts, 'flash', 'host', names[owner])).toBe(written[owner]);
    const copies = parts.filter(
      ({ layer, cause, origin }) => layer === 'flash' && cause !== 'host' && origin === names[owner],
    );
    expect(copies.reduce((all, { bytes }) => all + bytes, 0)).toBe(moved[owner] * SLOT);
  }
});

test('what a drive held before the run is told from what the run wrote', async () => {
  const { result, parts } = await traffic(small, false, { precondition: 'steady' });
  checkAccounts(result);
  expect(sum(parts, 'device', 'written', 'preconditioned')).toBe(0);
  expect(sum(parts, 'flash', 'gc', 'preconditioned')).toBeGreaterThan(sum(parts, 'flash', 'gc', 'fileData'));
});

describe.each([
  ['segment', {}],
  ['disaggregate', { superblockBytes: 2 ** 21, metaBytes: 2 ** 22 }],
  ['zoned', { placement: 'rotating', zoneUnits: 4, maxActive: 3 }],
] as const)('mapping %s', (name, parameters) => {
  test.each([[1], [0]])('is accounted for with flushes every %i requests', async (flushEvery) => {
    const result = await runExperiment({
      device: {
        config: { ...small, blockBytes: SLOT, capacityBytes: 2 ** 24, ftl: { mapping: { name, parameters } } },
      },
      precondition: 'fill',
      workload: { kind: 'segments', parameters: { requests: 3000, requestBytes: SLOT, order: 'random', flushEvery } },
      loop: { kind: 'closed', depth: 4 },
    });
    checkAccounts(result);
    expect(result.metrics['host.write.failed']).toBe(0);
    const parts = result.writeFlow;
    expect(sum(parts, 'device', 'written', 'unknown')).toBe(3000 * SLOT);
    expect(sum(parts, 'flash', 'backup')).toBe(result.metrics['ftl.backups.slots'] * SLOT);
    if (flushEvery === 1) expect(sum(parts, 'flash', 'backup')).toBeGreaterThan(0);
  });
});

test('a warm-up is left out; what it left in flight is told', async () => {
  const whole = await traffic(buffered, true, { precondition: 'steady' });
  const { result, parts } = await traffic(buffered, true, { precondition: 'steady', warmup: { requests: 6000 } });
  checkAccounts(result);
  expect(result.warmup?.requests).toBeGreaterThanOrEqual(6000);
  for (const [layer, cause] of [
    ['device', 'written'],
    ['flash', 'gc'],
    ['buffer', 'absorbed'],
    ['buffer', 'filled'],
  ] as const) {
    const share = sum(parts, layer, cause) / sum(whole.parts, layer, cause);
    expect(share, `${layer} ${cause}`).toBeGreaterThan(0.3);
    expect(share, `${layer} ${cause}`).toBeLessThan(layer === 'device' ? 0.6 : 1);
  }
  // At most what a full buffer and eight writes hold.
  expect(Math.abs(sum(parts, 'buffer', 'waiting'))).toBeLessThanOrEqual((64 + 8 * 4) * SLOT);
});

test('a table has the same parts', async () => {
  const { result, parts } = await traffic(buffered, true, { warmup: { requests: 6000 } });
  const table = resultTables([{ run: 'a', result }]).find(({ name }) => name === 'writes');
  const column = (name: string) => table?.columns.find((one) => one.name === name)?.values;
  expect(column('bytes')).toEqual(parts.map(({ bytes }) => bytes));
  expect(column('layer')).toEqual(parts.map(({ layer }) => layer));
  expect(column('cause')).toEqual(parts.map(({ cause }) => cause));
  expect(column('origin')).toEqual(parts.map(({ origin }) => origin ?? 'none'));
});
