import { BlockOp } from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { resolvePreset, Ssd } from '../src/index.js';
import { ClosedLoop } from './closed-loop.js';

// Pages of four slots and a buffer: each log block that is partly written holds back slots of the buffer, and there are more
// of them than slots. What waits for its program unit must be padded, or nothing would ever come that completes it.
test.each(['block', 'bast', 'sast', 'fast', 'last'])(
  '%s: incomplete program units do not fill the buffer for good',
  (mapping) => {
    const preset = resolvePreset('emmc-5.0', { capacity: 128 * 2 ** 20, overProvisioning: 0.2 });
    const { domain } = preset.ftl;
    const ssd = new Ssd(new Simulator(), { ...preset, ftl: { ...(domain === undefined ? {} : { domain }), mapping } });
    const loop = { op: BlockOp.write, blocks: 4096 / ssd.blockBytes, requests: 2000, pattern: 'random' } as const;
    for (const depth of [1, 8]) {
      expect(new ClosedLoop(ssd, { ...loop, depth }).run().perSecond).toBeGreaterThan(0);
      ssd.assertDrained();
    }
  },
);
