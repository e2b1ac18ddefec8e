import type { NandGeometry } from './config.js';

/** Page types and word lines of one block, expanded from a geometry's `pairing`. */
export interface PageTypes {
  /** Per page: 0 LSB, 1 CSB (MLC: MSB), 2 MSB, 3 top. */
  readonly pageType: Uint8Array;
  /** Per page: its word line. */
  readonly wordLine: Int32Array;
}

/** Type of a page of a planar TLC block (Yaakobi et al., "Characterization and error-correcting codes for TLC", 2012). */
function tlcType(page: number): number {
  if (page < 6) return 0;
  return page < 8 ? 1 : ((page - 8) >> 1) % 3;
}

/**
 * Shifted MLC order of 2x nm parts: the first four and all pages 6, 7, 10, 11, … are LSB, the last four are MSB.
 * Programming an LSB two word lines ahead of its MSB partner keeps cell-to-cell interference low.
 */
function shiftedType(page: number, pages: number): number {
  if (page < 4) return 0;
  if (page >= pages - 4) return 1;
  return (page & 2) === 0 ? 1 : 0;
}

/** Expands the pairing of a checked geometry. */
export function pageTypes(geometry: NandGeometry): PageTypes {
  const { pagesPerBlock: pages, pairing, cellBits } = geometry;
  const pageType = new Uint8Array(pages);
  const wordLine = new Int32Array(pages);
  const ranks = new Int32Array(4);
  const own = typeof pairing === 'object' ? pairing : null;
  for (let page = 0; page < pages; page++) {
    let type = page % cellBits;
    if (own !== null) type = own.pageType[page];
    else if (pairing === 'shifted') type = shiftedType(page, pages);
    else if (pairing === 'tlc') type = tlcType(page);
    pageType[page] = type;
    // The k-th page of each type shares word line k: true of the simple, shifted and TLC orders alike.
    wordLine[page] = own?.wordLine?.[page] ?? ranks[type]++;
  }
  return { pageType, wordLine };
}
