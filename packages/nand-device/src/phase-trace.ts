/** Per class: 1 for work of the garbage collector, whose share of another's wait is reported apart. */
export const gcClasses: Uint8Array = Uint8Array.from([0, 0, 0, 1, 0, 1, 1]);

/** Told of every booking; for checks, tests and charts. Nothing is called while there is none. */
export interface PhaseTrace {
  /** A channel is booked from `startNs` to `endNs`. */
  onBus(channel: number, startNs: number, endNs: number): void;
  /** A die is taken from `startNs` to `endNs`; overlapping plane reads are told as one. */
  onDie(die: number, startNs: number, endNs: number): void;
}
