import type { SsdConfig } from './config.js';

/**
 * How a number was come by. `datasheet`: of a part, an interface standard or a vendor's sheet; `paper`: published research;
 * `simulator`: another simulator's configuration; `calibrated`: fitted to the drive's figures; `chosen`: none of these.
 */
export type ProvenanceClass = 'datasheet' | 'paper' | 'simulator' | 'calibrated' | 'chosen';

/** Where a number comes from. */
export interface ProvenanceEntry {
  readonly class: ProvenanceClass;
  /** A document by title, the figure that was fitted, or the reason of a choice. */
  readonly source: string;
}

/** Provenance by path of a configuration (`nand.timing.readNs`), or of a section of it: the longest path holds. */
export type Provenance = Readonly<Record<string, ProvenanceEntry>>;

/** A drive that comes with the package. */
export interface Preset {
  readonly config: SsdConfig;
  readonly provenance: Provenance;
}

/** Where the value at `path` comes from, or null if nothing is said about it. */
export function provenanceAt(provenance: Provenance, path: string): ProvenanceEntry | null {
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('.'))) {
    if (Object.hasOwn(provenance, at)) return provenance[at];
    if (!at.includes('.')) return null;
  }
}
