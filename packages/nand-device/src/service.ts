import { grown } from './columns.js';

/** Where a transaction of the event scheduler stands. */
export const Stage = { waiting: 0, parked: 1, queued: 2, running: 3, suspended: 4, done: 5 } as const;

/** Columns of the event scheduler, parallel to `Transactions`. */
export class Service {
  stage: Uint8Array = new Uint8Array(0);
  /** Next in a queue, a parking list or a list of merged commands. */
  next: Int32Array = new Int32Array(0);
  /** The token that waits for this one (each token is used once, so there is one at most); 0: none. */
  dependent: Int32Array = new Int32Array(0);
  /** Inputs a join still waits for. */
  inputs: Int32Array = new Int32Array(0);
  /** Order of issue. */
  issued: Float64Array = new Float64Array(0);
  /** Number of a program, for fences. */
  programNumber: Float64Array = new Float64Array(0);
  /** Garbage-collection time of the die when the transaction became ready. */
  gcAtReadyNs: Float64Array = new Float64Array(0);
  /** Array rounds of a read still to come (retries, soft decode); bus phases of a copyback still to come. */
  rounds: Int32Array = new Int32Array(0);
  suspends: Int32Array = new Int32Array(0);
  /** Array time left when suspended. */
  leftNs: Float64Array = new Float64Array(0);
  /** When the transaction joined its queue, later when it began to wait for the bus. */
  busSinceNs: Float64Array = new Float64Array(0);

  /** Makes room for tokens below `capacity`. */
  fit(capacity: number): void {
    if (this.stage.length >= capacity) return;
    this.stage = grown(this.stage, new Uint8Array(capacity));
    this.next = grown(this.next, new Int32Array(capacity));
    this.dependent = grown(this.dependent, new Int32Array(capacity));
    this.inputs = grown(this.inputs, new Int32Array(capacity));
    this.issued = grown(this.issued, new Float64Array(capacity));
    this.programNumber = grown(this.programNumber, new Float64Array(capacity));
    this.gcAtReadyNs = grown(this.gcAtReadyNs, new Float64Array(capacity));
    this.rounds = grown(this.rounds, new Int32Array(capacity));
    this.suspends = grown(this.suspends, new Int32Array(capacity));
    this.leftNs = grown(this.leftNs, new Float64Array(capacity));
    this.busSinceNs = grown(this.busSinceNs, new Float64Array(capacity));
  }
}
