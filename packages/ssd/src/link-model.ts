import type { LinkConfig } from './config.js';

/** A link by its standard. */
export type LinkModel =
  | { readonly pcieGeneration: 1 | 2 | 3 | 4; readonly lanes: 1 | 2 | 4 | 8 | 16 }
  | { readonly sata: 1 | 2 | 3 }
  | { readonly emmc: 'hs200' | 'hs400' };

// Bytes per second after line coding, before packets and frames.
const LANE = { 1: 250e6, 2: 500e6, 3: 985e6, 4: 1969e6 } as const;
const SATA = { 1: 150e6, 2: 300e6, 3: 600e6 } as const;
const EMMC = { hs200: 200e6, hs400: 400e6 } as const;
/** Share of the rate that carries payload: packets of 128 to 256 bytes; frames of 8 KiB; blocks with their checksums. */
const PAYLOAD = { pcie: 0.85, sata: 0.925, emmc: 0.95 } as const;
/** Frames of one command besides its data, ns. */
const COMMAND_NS = { pcie: 300, sata: 2_000, emmc: 3_000 } as const;

/**
 * The payload rates of a standard link. Rates are those of the standards; the shares for payload lie in the middle of
 * what is measured, and the times per command are those of the presets. `chunkBytes`: see `LinkConfig`.
 */
export function linkConfig(model: LinkModel, chunkBytes = 16_384): LinkConfig {
  const kind = 'sata' in model ? 'sata' : 'emmc' in model ? 'emmc' : 'pcie';
  let rate: number;
  if ('sata' in model) rate = SATA[model.sata];
  else if ('emmc' in model) rate = EMMC[model.emmc];
  else rate = LANE[model.pcieGeneration] * model.lanes;
  const bytesPerSec = Math.round(rate * PAYLOAD[kind]);
  return {
    readBytesPerSec: bytesPerSec,
    writeBytesPerSec: bytesPerSec,
    duplex: kind === 'pcie' ? 'full' : 'half',
    commandNs: COMMAND_NS[kind],
    chunkBytes,
  };
}
