import { BlockFlag, BlockOp, BlockRequest, submitAndWait } from '@flashstack/block-device';
import { transferNs } from '@flashstack/nand-device';
import { Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { bufferedDrive, plainDrive, protectedDrive, wideDrive } from './small-drives.js';

const { timing, geometry } = plainDrive.nand;
const { firmware } = plainDrive;
const SLOT = 8;
/** 4 KiB at 1 GB/s, and the command frames of the test drives. */
const LINK_NS = 4096 + 100;
const readNs = timing.commandNs + timing.readNs[0] + transferNs(geometry.slotBytes, timing.channelBytesPerSec);
const programNs =
  timing.commandNs +
  transferNs(geometry.pageBytes + geometry.oobBytes, timing.channelBytesPerSec) +
  timing.programNs[0];

function make(config: SsdConfig): {
  ssd: Ssd;
  took: (op: number, block: number, count: number, flags?: number) => number;
} {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, config);
  const took = (op: number, block: number, count: number, flags = 0): number => {
    const from = simulator.now;
    expect(submitAndWait(simulator, ssd, { op, block, count, flags })).toBe(0);
    const elapsed = simulator.now - from;
    simulator.drain();
    return elapsed;
  };
  return { ssd, took };
}

describe('one request at a time takes the sum of its parts', () => {
  test('a write without buffer: firmware, link, bus, program', () => {
    const { took } = make(plainDrive);
    expect(took(BlockOp.write, 0, SLOT)).toBe(firmware.writeNs + LINK_NS + programNs);
  });

  test('a read: firmware, command, array, bus, link', () => {
    const { took } = make(plainDrive);
    took(BlockOp.write, 0, SLOT);
    expect(took(BlockOp.read, 0, SLOT)).toBe(firmware.readNs + firmware.readPipelineNs + readNs + LINK_NS);
  });

  test('a read of what was never written touches no flash', () => {
    const { ssd, took } = make(plainDrive);
    expect(took(BlockOp.read, 0, SLOT)).toBe(firmware.readNs + firmware.readPipelineNs + LINK_NS);
    expect(ssd.flash.scheduler.counts.total(ssd.flash.scheduler.counts.reads)).toBe(0);
  });

  test('a buffered write is done when its data is here; FUA waits for the program', () => {
    const { took } = make(bufferedDrive);
    expect(took(BlockOp.write, 0, SLOT)).toBe(firmware.writeNs + LINK_NS);
    // The second page of the block belongs to the slower type only in word-line order: 0 is LSB, 1 is MSB.
    expect(took(BlockOp.write, SLOT, SLOT, BlockFlag.fua)).toBeGreaterThanOrEqual(
      firmware.writeNs + LINK_NS + programNs,
    );
  });

  test('a flush takes as long as what it covers, and nothing with power-loss protection', () => {
    const volatile = make({ ...wideDrive, idleNs: 0 });
    volatile.took(BlockOp.write, 0, SLOT);
    expect(volatile.took(BlockOp.flush, 0, 0)).toBeGreaterThan(timing.programNs[0]);
    expect(volatile.took(BlockOp.flush, 0, 0)).toBe(firmware.flushNs);
    const kept = make(protectedDrive);
    kept.took(BlockOp.write, 0, SLOT);
    expect(kept.took(BlockOp.flush, 0, 0)).toBe(firmware.flushNs);
    expect(kept.took(BlockOp.write, 0, SLOT, BlockFlag.fua)).toBe(firmware.writeNs + LINK_NS);
    // Trims are kept by flash, so a flush after one has work to do.
    kept.took(BlockOp.discard, 0, SLOT);
    expect(kept.took(BlockOp.flush, 0, 0)).toBeGreaterThan(timing.programNs[0]);
  });
});

describe('the link', () => {
  const large = 64 * SLOT;
  const slowLink = { readBytesPerSec: 50e6, writeBytesPerSec: 50e6, duplex: 'full', commandNs: 0 } as const;
  const transfer = (64 * 4096 * 1e9) / 50e6;

  test('overlaps flash work in chunks', () => {
    const times = [4096, 64 * 4096].map((chunkBytes) => {
      const { took } = make({ ...plainDrive, link: { ...slowLink, chunkBytes } });
      took(BlockOp.write, 0, large);
      return took(BlockOp.read, 0, large);
    });
    const firstSlot = firmware.readNs + firmware.readPipelineNs + readNs;
    expect(times[0]).toBe(firstSlot + transfer);
    expect(times[1]).toBeGreaterThan(transfer + firstSlot + readNs);
  });

  test('is shared by both directions if it is half duplex', () => {
    const elapsed = (duplex: 'full' | 'half'): number => {
      const simulator = new Simulator();
      const ssd = new Ssd(simulator, { ...bufferedDrive, link: { ...slowLink, duplex, chunkBytes: 4096 } });
      for (const op of [BlockOp.read, BlockOp.write]) {
        const request = new BlockRequest({ ioDone: () => undefined });
        request.op = op;
        request.block = op * large;
        request.count = large / 4;
        ssd.submit(request);
      }
      simulator.drain();
      const { read, write } = ssd.stats.kinds;
      return Math.max(read.latencyNs.max, write.latencyNs.max);
    };
    expect(elapsed('full')).toBeLessThan(1.3 * (transfer / 4));
    expect(elapsed('half')).toBeGreaterThan(1.9 * (transfer / 4));
  });
});

describe('queues', () => {
  test('are served in turn, and no more commands are under way than the depth', () => {
    const simulator = new Simulator();
    const ssd = new Ssd(simulator, { ...plainDrive, queue: { depth: 1, queues: 2 } });
    const order: number[] = [];
    const owner = { ioDone: (request: BlockRequest) => order.push(request.cookie) };
    for (const [cookie, flow] of [0, 0, 0, 0, 1, 1].entries()) {
      const request = new BlockRequest(owner);
      request.op = BlockOp.read;
      request.block = cookie * SLOT;
      request.count = SLOT;
      request.cookie = cookie;
      request.flow = flow;
      ssd.submit(request);
    }
    simulator.drain();
    expect(order).toEqual([0, 1, 4, 2, 5, 3]);
    const alone = firmware.readNs + firmware.readPipelineNs + LINK_NS;
    expect(simulator.now).toBe(6 * alone);
  });
});
