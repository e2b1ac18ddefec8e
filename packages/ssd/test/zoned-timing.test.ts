import {
  BlockOp,
  BlockRequest,
  BlockStatus,
  submitAndWait,
  type ZoneCapability,
  ZoneOp,
} from '@flashstack/block-device';
import { defaultCommandTiming, type NandConfig, transferNs } from '@flashstack/nand-device';
import { Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { freeFirmware, Ssd, type SsdConfig } from '../src/index.js';
import { plainDrive, smallNand } from './small-drives.js';

const CHANNELS = 2;
const WAYS = 4;

/** Eight dies on two channels, one bit per cell, so that all programs take the same time. */
function nand(channelBytesPerSec: number): NandConfig {
  return {
    ...smallNand,
    geometry: {
      ...smallNand.geometry,
      channels: CHANNELS,
      ways: WAYS,
      planes: 1,
      blocksPerPlane: 24,
      pagesPerBlock: 64,
      pageBytes: 16_384,
      cellBits: 1,
    },
    timing: {
      ...defaultCommandTiming,
      readNs: [50_000],
      programNs: [500_000],
      eraseNs: 3_000_000,
      channelBytesPerSec,
    },
  };
}

/** Zones over `units` dies, two erase blocks of each; nothing but flash takes time. */
function drive(units: number, channelBytesPerSec: number, kind: 'timeline' | 'event'): SsdConfig {
  const zoneBytes = units * 2 * 64 * 16_384;
  return {
    ...plainDrive,
    name: `zones over ${units} dies`,
    blockBytes: 4096,
    capacityBytes: 8 * zoneBytes,
    nand: nand(channelBytesPerSec),
    ftl: { mapping: { name: 'zoned', parameters: { placement: 'rotating', zoneUnits: units, zoneBytes } } },
    link: null,
    firmware: freeFirmware,
    queue: { depth: 64, queues: 1 },
    scheduler: { ...plainDrive.scheduler, kind },
  };
}

function make(config: SsdConfig): { simulator: Simulator; ssd: Ssd; zones: ZoneCapability } {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, config);
  return { simulator, ssd, zones: ssd.zones as ZoneCapability };
}

/** Bytes per second of appends that fill zone 1, `depth` in flight, without what begins and ends them. */
function fillRate(config: SsdConfig, depth: number): number {
  const { simulator, ssd, zones } = make(config);
  const pages = zones.zoneCapacityBlocks / 4;
  let sent = 0;
  let done = 0;
  let fromNs = 0;
  let rate = 0;
  const owner = {
    ioDone(request: BlockRequest): void {
      expect(request.status).toBe(BlockStatus.ok);
      done++;
      const first = Math.floor(pages / 4);
      if (done === first) fromNs = simulator.now;
      // From here on fewer than `depth` are in flight.
      if (done === pages - depth) rate = ((done - first) * 16_384 * 1e9) / (simulator.now - fromNs);
      if (sent < pages) send(request);
    },
  };
  const send = (request: BlockRequest): void => {
    Object.assign(request, { op: ZoneOp.append, block: zones.zoneBlocks, count: 4 });
    sent++;
    ssd.submit(request);
  };
  for (let i = 0; i < depth; i++) send(new BlockRequest(owner));
  simulator.drain();
  ssd.assertDrained();
  return rate;
}

const { commandNs } = defaultCommandTiming;
const inNs = (rate: number): number => commandNs + transferNs(16_384 + 128, rate);
const PROGRAM_NS = 500_000;
const ERASE_NS = 3_000_000;

describe.each(['timeline', 'event'] as const)('on the %s scheduler', (kind) => {
  for (const [what, rate] of [
    ['programs are the limit', 400e6],
    ['the channels are the limit', 60e6],
  ] as const) {
    test.each([1, 2, 4, 8])(`a zone over %i dies is filled at the rate of them where ${what}, within 2 %`, (units) => {
      // A die takes its data and programs it; the dies of a channel take theirs one after the other.
      const perChannel = Math.max(1, units / CHANNELS);
      const rowNs = Math.max(inNs(rate) + PROGRAM_NS, perChannel * inNs(rate));
      const closedForm = (units * 16_384 * 1e9) / rowNs;
      const measured = fillRate(drive(units, rate, kind), 4 * units);
      expect(Math.abs(measured / closedForm - 1)).toBeLessThan(0.02);
    });
  }

  test('an append of a program unit takes as long as its program, a reset as long as the erases of the zone', () => {
    const { simulator, ssd, zones } = make(drive(8, 400e6, kind));
    const took = (op: number, block: number, count: number): number => {
      const from = simulator.now;
      expect(submitAndWait(simulator, ssd, { op, block, count })).toBe(BlockStatus.ok);
      return simulator.now - from;
    };
    const start = zones.zoneBlocks;
    for (let i = 0; i < 3; i++) expect(took(ZoneOp.append, start, 4)).toBe(inNs(400e6) + PROGRAM_NS);
    // Three dies have a block to erase, two of them on one channel: all at once.
    const reset = took(ZoneOp.reset, start, zones.zoneBlocks);
    expect(reset).toBeGreaterThanOrEqual(ERASE_NS);
    expect(reset).toBeLessThanOrEqual(ERASE_NS + 3 * commandNs);
    // Nothing is left to erase.
    expect(took(ZoneOp.reset, start, zones.zoneBlocks)).toBe(0);
    took(BlockOp.write, start, zones.zoneCapacityBlocks);
    // Two blocks of each die, one after the other.
    const whole = took(ZoneOp.reset, start, zones.zoneBlocks);
    expect(whole).toBeGreaterThanOrEqual(2 * ERASE_NS);
    expect(whole).toBeLessThanOrEqual(2 * ERASE_NS + 2 * WAYS * commandNs);
    // A finish programs what is left of a unit, and notes that the zone is full.
    const finish = took(ZoneOp.finish, start, zones.zoneBlocks);
    expect(finish).toBeGreaterThanOrEqual(PROGRAM_NS);
    expect(finish).toBeLessThan(2 * PROGRAM_NS);
    expect(took(ZoneOp.open, 0, zones.zoneBlocks)).toBe(0);
  });
});
