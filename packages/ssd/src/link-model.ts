import { InputError, unknownName } from '@flashstack/sim';
import type { LinkConfig } from './config.js';

/** Standards of links: PCI Express and SATA by generation, eMMC by bus mode. */
export const linkStandards = [
  'pcie1',
  'pcie2',
  'pcie3',
  'pcie4',
  'pcie5',
  'sata1',
  'sata2',
  'sata3',
  'emmc-hs200',
  'emmc-hs400',
] as const;
/** One of {@link linkStandards}. */
export type LinkStandard = (typeof linkStandards)[number];

/** A link by its standard. */
export interface LinkModel {
  readonly standard: LinkStandard;
  /** PCIe: 1, 2, 4, 8 or 16. Default 4; the others have none. */
  readonly lanes?: number;
}

interface Family {
  /** Bytes per second after line coding, before packets and frames, by standard: of a lane or of the whole link. */
  readonly rates: Readonly<Partial<Record<LinkStandard, number>>>;
  readonly duplex: LinkConfig['duplex'];
  /** Share of the rate that carries payload. */
  readonly payload: number;
  /** Frames of one command besides its data, ns. */
  readonly commandNs: number;
}

const LANES = [1, 2, 4, 8, 16];
const pcie: Family = {
  rates: { pcie1: 250e6, pcie2: 500e6, pcie3: 985e6, pcie4: 1969e6, pcie5: 3938e6 },
  duplex: 'full',
  payload: 0.85, // packets of 128 to 256 bytes
  commandNs: 300,
};
const sata: Family = {
  rates: { sata1: 150e6, sata2: 300e6, sata3: 600e6 },
  duplex: 'half',
  payload: 0.925, // frames of 8 KiB
  commandNs: 2_000,
};
const emmc: Family = {
  rates: { 'emmc-hs200': 200e6, 'emmc-hs400': 400e6 },
  duplex: 'half',
  payload: 0.95, // blocks with their checksums
  commandNs: 3_000,
};

const links: ReadonlyMap<string, LinkModel> = new Map(
  linkStandards.flatMap((standard): [string, LinkModel][] =>
    standard in pcie.rates
      ? LANES.map((lanes) => [`${standard}x${lanes}`, { standard, lanes }])
      : [[standard, { standard }]],
  ),
);

/** Every link by its short name: `pcie3x4`, `sata3`, `emmc-hs400`. */
export const linkNames: readonly string[] = [...links.keys()];

/**
 * The link that a short name means: `pcie3x4`, `sata3`, `emmc-hs400`.
 * @throws InputError `ERR_UNKNOWN_NAME` with the nearest known name.
 */
export function linkOf(name: string): LinkModel {
  const model = links.get(name);
  if (model === undefined) throw unknownName('link', name, linkNames);
  return model;
}

/**
 * The payload rates of a standard link. Rates are those of the standards; the shares for payload lie in the middle of
 * what is measured, and the times per command are those of the presets. `chunkBytes`: see `LinkConfig`.
 * @throws InputError `ERR_UNKNOWN_NAME` for an unknown standard; `ERR_SSD_LINK` for impossible lanes.
 */
export function linkConfig(model: LinkModel, chunkBytes = 16_384): LinkConfig {
  const { standard, lanes } = model;
  if (!linkStandards.includes(standard)) throw unknownName('link standard', String(standard), linkStandards);
  const family = standard in pcie.rates ? pcie : standard in sata.rates ? sata : emmc;
  if (lanes !== undefined && family !== pcie) {
    throw new InputError(
      'ERR_SSD_LINK',
      `link.lanes: found ${lanes}, but ${standard} has none; leave it out`,
      'link.lanes',
    );
  }
  if (lanes !== undefined && !LANES.includes(lanes)) {
    throw new InputError(
      'ERR_SSD_LINK',
      `link.lanes: found ${lanes}, expected one of ${LANES.join(', ')}`,
      'link.lanes',
    );
  }
  const rate = (family.rates[standard] as number) * (family === pcie ? (lanes ?? 4) : 1);
  const bytesPerSec = Math.round(rate * family.payload);
  return {
    readBytesPerSec: bytesPerSec,
    writeBytesPerSec: bytesPerSec,
    duplex: family.duplex,
    commandNs: family.commandNs,
    chunkBytes,
  };
}
