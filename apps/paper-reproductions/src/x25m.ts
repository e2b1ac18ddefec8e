import { lookupStrategy } from '@flashstack/sim';
import { presets, type SsdConfig } from '@flashstack/ssd';

const BUFFER_SLOTS = 512;

/** How an X25-M is taken apart and put together again. */
export interface Structure {
  readonly channels: number;
  readonly ways: number;
  /** Default: that of the drive, 4 KiB. */
  readonly pageBytes?: number;
  /** What the host may address, bytes. */
  readonly capacityBytes: number;
  /** VSSIM's delay between pages of any two channels (16 µs a read, 33 µs a write): it serialises the drive. Default false. */
  readonly switchDelay?: boolean;
  /** Planes of a chip, programmed together where blocks span them. Default 1. */
  readonly planes?: number;
  /** Spare flash as a share of the capacity. Default 0.15. */
  readonly spare?: number;
}

/**
 * VSSIM's X25-M with another structure and capacity, the same cells and channels: blocks of 64 pages, erased in a quarter of
 * the time, so that small drives have a choice of victims, and a buffer of 2 MiB. Without the switch delay a slot takes 1 µs
 * of the processor.
 */
export function x25m({
  channels,
  ways,
  pageBytes = 4096,
  capacityBytes,
  switchDelay = false,
  planes = 1,
  spare = 0.15,
}: Structure): SsdConfig {
  const preset = lookupStrategy(presets, 'intel-x25m-vssim', 'device preset');
  const pagesPerBlock = 64;
  const blockBytes = pagesPerBlock * pageBytes;
  const blocksPerPlane = Math.ceil((capacityBytes * (1 + spare)) / (channels * ways * planes * blockBytes));
  const fast = { ...preset.firmware, readNs: 1000, readSlotNs: 1000, writeNs: 1000, writeSlotNs: 1000 };
  return {
    ...preset,
    // The buffer of 32 MiB, scaled like a drive of about a thousandth.
    buffer: preset.buffer === null ? null : { ...preset.buffer, slots: BUFFER_SLOTS, inFlightSlots: BUFFER_SLOTS },
    name: `x25m-${channels}x${ways}`,
    capacityBytes,
    nand: {
      ...preset.nand,
      features: { ...preset.nand.features, multiPlane: planes > 1 },
      geometry: {
        ...preset.nand.geometry,
        planes,
        channels,
        ways,
        pageBytes,
        slotBytes: 4096,
        blocksPerPlane,
        pagesPerBlock,
      },
      timing: { ...preset.nand.timing, eraseNs: preset.nand.timing.eraseNs / 4 },
    },
    firmware: switchDelay ? preset.firmware : fast,
  };
}
