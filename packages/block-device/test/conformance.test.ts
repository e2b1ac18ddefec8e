import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, it } from 'vitest';
import { blockDeviceConformance, type ConformanceFixture } from '../src/conformance/index.js';
import { BaseImage, CrashDevice } from '../src/crash/index.js';
import { type BlockFeatures, FaultDevice, MemoryDevice, PartitionDevice, RecordingDevice } from '../src/index.js';
import { ImageFileDevice } from '../src/node/index.js';

const all: BlockFeatures = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'contents' };
const few: BlockFeatures = { fua: false, volatileCache: true, discard: false, atomicBlocks: 4, keeps: 'contents' };

function suite(name: string, capabilities: BlockFeatures, factory: () => ConformanceFixture): void {
  describe(name, () => {
    blockDeviceConformance({ test: it, capabilities, factory });
  });
}

function memory(features: BlockFeatures, blockBytes = 4096): MemoryDevice {
  return new MemoryDevice({ blockBytes, blockCount: 100, features });
}

for (const [label, features] of [
  ['all features', all],
  ['few features', few],
  ['nothing kept', { ...all, keeps: 'nothing' }],
] as const) {
  suite(`memory, ${label}`, features, () => ({ device: memory(features), simulator: new Simulator() }));
  suite(`partition of memory, ${label}`, features, () => ({
    device: new PartitionDevice(memory(features), 13, 80),
    simulator: new Simulator(),
  }));
  suite(`recording in front of memory, ${label}`, features, () => {
    const simulator = new Simulator();
    return { device: new RecordingDevice(memory(features), { simulator, contents: true }), simulator };
  });
  suite(`fault-injecting with latency, ${label}`, features, () => {
    const simulator = new Simulator();
    const random = new RandomSource(1).stream('faults');
    const rules = [
      { probability: 0.3, latencyNs: 70_000 },
      { ops: [1], latencyNs: 5_000 },
    ];
    return { device: new FaultDevice(memory(features), { simulator, random, rules, latencyNs: 10_000 }), simulator };
  });
}

suite('memory with blocks of 512 bytes', all, () => ({ device: memory(all, 512), simulator: new Simulator() }));

suite('crash-exploring', { ...all, volatileCache: true }, () => ({
  device: new CrashDevice(BaseImage.blank(100)),
  simulator: new Simulator(),
}));

suite('crash-exploring, few features, blocks of 512 bytes, answers out of order', few, () => {
  const simulator = new Simulator();
  const random = new RandomSource(1).stream('latency');
  const latency = { simulator, random, leastNs: 0, mostNs: 90_000 };
  return { device: new CrashDevice(BaseImage.blank(100, 512), { features: few, latency }), simulator };
});

suite('four wrappers over each other', all, () => {
  const simulator = new Simulator();
  const slow = new FaultDevice(memory(all), { simulator, rules: [], latencyNs: 100 });
  const device = new RecordingDevice(new PartitionDevice(new RecordingDevice(slow), 20, 70));
  return { device, simulator };
});

suite('image file', { ...all, volatileCache: true }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'flashstack-image-'));
  const device = new ImageFileDevice(join(folder, 'image'), { blockCount: 100, create: true });
  return {
    device,
    simulator: new Simulator(),
    close() {
      device.close();
      rmSync(folder, { recursive: true });
    },
  };
});
