import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { RandomSource, Simulator, StatsRegistry } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { presets, resolvePreset, Ssd } from '../src/index.js';

for (const { name } of presets) {
  test(`random traffic on ${name} is served completely`, () => {
    const simulator = new Simulator();
    const ssd = new Ssd(simulator, resolvePreset(name, { capacity: 4 * 2 ** 30 }));
    const random = new RandomSource(1).stream('test');
    let left = 20_000;
    const send = (request: BlockRequest): void => {
      if (left-- <= 0) return;
      request.op = random.nextFloat() < 0.5 ? BlockOp.read : BlockOp.write;
      request.count = 8;
      request.block = 8 * random.below(ssd.blockCount / 8);
      ssd.submit(request);
    };
    const owner: IoOwner = { ioDone: send };
    for (let i = 0; i < 32; i++) send(new BlockRequest(owner));
    simulator.drain();
    ssd.assertDrained();
    const registry = new StatsRegistry();
    ssd.registerStats(registry);
    const metrics = registry.read();
    expect(metrics['host.read.requests'] + metrics['host.write.requests']).toBe(20_000);
    console.log(
      name,
      metrics['host.read.latencyNs.mean'],
      metrics['host.write.latencyNs.mean'],
      metrics['host.write.iops'],
    );
  });
}
