const SEGMENT = 2 * 1024 * 1024;
const BLOCKS_PER_SEGMENT = 512;
/** Entries of a 4 KiB block of the segment information table and of the node address table. */
const SIT_ENTRIES = 55;
const NAT_ENTRIES = 455;
/** Segments of the two checkpoint packs. */
const CHECKPOINT = 2;
/** Bytes of a checkpoint block for the version bitmaps of both tables, and the least that is left to the second. */
const BITMAP_BYTES = 3900;
const LEAST_NAT_BITMAP = 64;

/**
 * Bytes of the area that F2FS updates in place (checkpoint, SIT, NAT and SSA: everything before its main area) on a
 * volume of `volumeBytes` with sections of `sectionBytes`, as its formatter lays it out (f2fs-tools 1.15).
 */
export function f2fsMetadataBytes(volumeBytes: number, sectionBytes: number): number {
  const zone = sectionBytes / SEGMENT;
  // The first segment begins at the first whole zone behind the two superblocks.
  const segments = Math.floor((volumeBytes - sectionBytes) / sectionBytes) * zone;
  const sit = 2 * Math.ceil(Math.ceil(segments / SIT_ENTRIES) / BLOCKS_PER_SEGMENT);
  const nat = natSegments(segments, sit);
  const ssa = Math.ceil((segments - CHECKPOINT - sit - nat + 1) / BLOCKS_PER_SEGMENT);
  return Math.ceil((CHECKPOINT + sit + nat + ssa) / zone) * zone * SEGMENT;
}

function natSegments(segments: number, sit: number): number {
  const blocks = Math.ceil(((segments - CHECKPOINT - sit) * BLOCKS_PER_SEGMENT) / NAT_ENTRIES);
  const sitBitmap = ((sit / 2) * BLOCKS_PER_SEGMENT) / 8;
  const room = sitBitmap > BITMAP_BYTES - LEAST_NAT_BITMAP ? BITMAP_BYTES : BITMAP_BYTES - sitBitmap;
  const most = Math.floor((room * 8) / BLOCKS_PER_SEGMENT);
  return 2 * Math.min(Math.ceil(blocks / BLOCKS_PER_SEGMENT), most);
}
