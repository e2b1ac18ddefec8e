import {
  type BlockDevice,
  type BlockFeatures,
  BlockOp,
  type BlockRequest,
  WrapperDevice,
} from '@flashstack/block-device';
import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { expect, it } from 'vitest';
import { subject } from './support.js';

/** Says that flushes are done without passing them on. */
class LyingDevice extends WrapperDevice {
  override readonly features: BlockFeatures;

  constructor(device: BlockDevice) {
    super(device, device.blockCount);
    this.features = { ...device.features, fua: false };
  }

  protected accept(request: BlockRequest): void {
    if (request.op !== BlockOp.flush) {
      this.forward(request, this.hold(request), 0);
      return;
    }
    request.status = 0;
    request.owner.ioDone(request);
  }
}

it('power cuts find a device that lies about flushes, by the name of a broken rule', () => {
  let message = 'no such test';
  fileSystemConformance({
    subject: {
      ...subject,
      mount: (simulator, device, ...rest) => subject.mount(simulator, new LyingDevice(device as BlockDevice), ...rest),
    },
    test(name, body) {
      if (!name.startsWith('power cuts')) return;
      message = 'the test passes';
      try {
        body();
      } catch (error) {
        message = (error as Error).message;
      }
    },
  });
  expect(message).toMatch(/^seed 1, cut \d+, image \d+: R\d/);
});
