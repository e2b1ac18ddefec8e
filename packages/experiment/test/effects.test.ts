import { describe, expect, test } from 'vitest';
import { type ExperimentSpec, resolveDevice } from '../src/index.js';

const spec = (overrides: Record<string, unknown>): ExperimentSpec => ({
  device: { preset: 'generic-tlc-nvme', capacityBytes: 2 ** 32, overrides },
  workload: { kind: 'random' },
});

describe('an option that the drive does not look at is refused if it is asked for', () => {
  test.each<[Record<string, unknown>, string, Record<string, unknown>]>([
    [
      { 'scheduler.policy': 'priority' },
      'scheduler.policy has no effect: only the event',
      { 'scheduler.kind': 'event' },
    ],
    [{ 'scheduler.bus': 'reserve' }, 'scheduler.bus has no effect', { 'scheduler.kind': 'event' }],
    [{ 'nand.features.suspend': 'erase' }, 'nothing is suspended unless', { 'scheduler.kind': 'event' }],
    [
      { 'nand.features.suspend': 'erase', 'scheduler.kind': 'event', 'scheduler.policy': 'fifo' },
      'nand.features.suspend has no effect',
      { 'scheduler.policy': 'readFirst' },
    ],
    [{ 'buffer.highWatermark': 0.9 }, 'buffer.highWatermark has no effect', { 'buffer.drain': 'watermark' }],
    [{ 'buffer.lowWatermark': 0 }, 'Set buffer.drain: watermark', { 'buffer.drain': 'watermark' }],
    [{ 'nand.reliability.ecc.refreshAtRetries': 2 }, 'idleNs 0 offers none', { idleNs: '1ms' }],
  ])('%j', (overrides, message, company) => {
    const without = { idleNs: 0, ...overrides };
    expect(() => resolveDevice(spec(without))).toThrow(message);
    expect(() => resolveDevice(spec({ ...without, ...company }))).not.toThrow();
  });

  test('delays of VSSIM without its scheduler', () => {
    const message = 'scheduler.vssim.switchReadNs has no effect: these are the delays of the scheduler vssim';
    expect(() => resolveDevice(spec({ 'scheduler.vssim.switchReadNs': '5us' }))).toThrow(message);
  });

  test('not if only the preset says it, or it says that there is nothing', () => {
    expect(resolveDevice(spec({ 'ftl.victim': 'fifo' })).scheduler).toMatchObject({
      kind: 'timeline',
      policy: 'outOfOrder',
    });
    expect(resolveDevice(spec({ 'nand.features.suspend': 'none' })).scheduler.kind).toBe('timeline');
    expect(resolveDevice(spec({ buffer: null })).buffer).toBeNull();
  });
});
