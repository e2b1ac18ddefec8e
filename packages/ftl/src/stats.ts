/** Why a block was emptied. */
export const MoveReason = { gc: 0, wearLevelling: 1, refresh: 2, retirement: 3, merge: 4 } as const;

/** Buckets of `victimValidity`: share of valid slots of a victim, in steps of 1/64, 64 = all valid. */
export const VALIDITY_BUCKETS = 65;

/**
 * Counters of an FTL, in slots unless the name says otherwise. Term by term (specification section 6.5):
 * `programmed` + `pending` + `dropped` = `carried` + `placed`, where `placed` is `host` + the five `moved` reasons +
 * `trimMap` + `mapping` + `backups` + `padding` + `reprogrammed`.
 */
export class FtlStats {
  /** Slots written by the host. */
  host = 0;
  /** Slots relocated, by `MoveReason`. */
  readonly moved: Float64Array = new Float64Array(5);
  /** Slots of the durable trim map written. */
  trimMap = 0;
  /** Slots of translation pages written, relocations not included (DFTL). */
  mapping = 0;
  /**
   * Slots written beside the data area of an append-only FTL: copies of data that must be durable before its program unit
   * is full or its word line complete, and states of zones.
   */
  backups = 0;
  /** Slots programmed without data: a flush, an erase or a power cut could not wait for the program unit to fill. */
  padding = 0;
  /** Slots written again because their program failed. */
  reprogrammed = 0;
  /** Slots that a power cut, or the release of their segment, took before their program unit was full. */
  dropped = 0;
  /** Slots programmed, counted where programs are issued. */
  programmed = 0;
  /** Slots that wait for their program unit now. */
  pending = 0;
  /** Slots that waited when counting began: they are programmed, but none of the terms counts them. */
  carried = 0;
  /** Blocks emptied, by `MoveReason`. */
  readonly runs: Float64Array = new Float64Array(5);
  /**
   * Victims of garbage collection that the policy did not choose: there was no room for its choice, or its choices had
   * gained nothing for a whole round of the domain's blocks. Then the block with the fewest valid slots is taken.
   */
  overruled = 0;
  /** Physical pages read to relocate their slots, and pages moved by copyback. */
  moveReads = 0;
  copybacks = 0;
  /** Merges of log blocks: the log block becomes the data block as it is, after copies behind it, or all is copied. */
  switchMerges = 0;
  partialMerges = 0;
  fullMerges = 0;
  /** Look-ups in a mapping table of which only a part is in RAM, and translation pages read because of misses and evictions. */
  mapHits = 0;
  mapMisses = 0;
  mapReads = 0;
  /** Physical blocks erased. */
  erases = 0;
  /** Physical blocks retired after a failure. */
  retired = 0;
  programFailures = 0;
  eraseFailures = 0;
  /** Slots whose data was lost because a relocation could not read them. */
  lost = 0;
  /** Slots unmapped by trims. */
  trimmed = 0;
  /** Slots read by the host, and how many of them were never written or trimmed, or came from controller RAM. */
  hostReads = 0;
  unmappedReads = 0;
  ramReads = 0;
  /** Page reads issued for the host. */
  pageReads = 0;
  /** Host operations that waited for a free block. */
  parked = 0;
  /** Host slots with a placement identifier that names no handle, and those that found no room in their reclaim group (FDP). */
  unknownPlacements = 0;
  outsideGroup = 0;
  /** `host` when the first victim was chosen, −1: never; and the domain and its free blocks then. */
  gcStartHost = -1;
  gcStartDomain = -1;
  gcStartFree = -1;
  /** Victims of garbage collection by their share of valid slots. */
  readonly victimValidity: Float64Array = new Float64Array(VALIDITY_BUCKETS);
  /** Host slots written, by origin; their sum is `host`. */
  readonly hostByOrigin: Float64Array = new Float64Array(256);
  /** Slots relocated, by 256 × `MoveReason` + origin; the sum of 256 of them is that of `moved`. */
  readonly movedByOrigin: Float64Array = new Float64Array(5 * 256);

  /** Slots placed for any reason: programmed since, waiting for their program unit, or dropped by a power cut. */
  get placed(): number {
    const moved = this.moved[0] + this.moved[1] + this.moved[2] + this.moved[3] + this.moved[4];
    return this.host + moved + this.trimMap + this.mapping + this.backups + this.padding + this.reprogrammed;
  }

  /** Slots programmed or pending that no term explains; 0 if the books balance. */
  unexplained(): number {
    return this.programmed + this.pending + this.dropped - this.carried - this.placed;
  }

  /**
   * Slots placed per host slot: those programmed, and those that their program unit still waits for. At least 1 from the
   * first host write on; 0 before.
   */
  get writeAmplification(): number {
    return this.host === 0 ? 0 : this.placed / this.host;
  }

  /** Starts counting again, for example after preconditioning; what is pending goes on. */
  reset(): void {
    const { pending } = this;
    const fresh = new FtlStats();
    for (const [key, value] of Object.entries(fresh)) {
      const mine: unknown = Reflect.get(this, key);
      if (mine instanceof Float64Array) mine.fill(0);
      else Reflect.set(this, key, value);
    }
    this.pending = pending;
    this.carried = pending;
  }
}
