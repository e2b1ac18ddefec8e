import { type BlockDevice, type BlockFeatures, type BlockRequest, WrapperDevice } from '@flashstack/block-device';
import { formatMiniJournal } from '@flashstack/mini-journal';
import { describe, expect, it } from 'vitest';
import { exploreFormat } from '../src/index.js';
import { miniJournal } from './crash-subjects.js';

/** Says that it needs no flushes, which is not so. */
class Unflushed extends WrapperDevice {
  override readonly features: BlockFeatures;

  constructor(device: BlockDevice) {
    super(device, device.blockCount);
    this.features = { ...device.features, volatileCache: false, fua: false };
  }

  protected accept(request: BlockRequest): void {
    this.forward(request, this.hold(request), 0);
  }
}

const limits = { draws: 20, most: 200, combinations: 64 };

describe('exploreFormat', () => {
  it('finds a volume refused, as before or new, over zeroes and over an older file system', () => {
    const fresh = exploreFormat(miniJournal(), 'blank', limits);
    expect(fresh.lost).toEqual([]);
    expect(fresh.images).toBe(fresh.refused + fresh.made);
    expect(fresh.refused).toBeGreaterThan(0);
    expect(fresh.made).toBeGreaterThan(0);
    const again = exploreFormat(miniJournal(), 'two files', limits);
    expect(again.lost).toEqual([]);
    expect(again.before).toBeGreaterThan(0);
  });

  it('finds one that declares itself finished first', () => {
    const subject = miniJournal();
    const { scheme } = subject;
    const format = (device: BlockDevice): ReturnType<typeof scheme.format> => {
      return formatMiniJournal(new Unflushed(device), { inodes: 32, journalBlocks: 70 });
    };
    expect(exploreFormat({ ...subject, scheme: { ...scheme, format } }, 'blank', limits).lost.length).toBeGreaterThan(
      0,
    );
  });
});
