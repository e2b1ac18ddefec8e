/** Listens to a drive; costs nothing when nobody does. */
export interface SsdProbe {
  /**
   * A request is done; `op` is its `BlockOp`. Its phases are `phasesNs[at … at + PHASES − 1]` (see `Phase`), valid during the call; their sum
   * is `latencyNs`.
   */
  requestDone(op: number, status: number, latencyNs: number, phasesNs: Float64Array, at: number): void;
}
