import type { BlockDevice } from '@flashstack/block-device';
import type { Simulator } from '@flashstack/sim';

/** What a drive promises about writes that it has answered and nobody has flushed. */
export type BufferPromise =
  /** They may be lost, each sector by itself. */
  | 'volatile'
  /** They survive: the buffer has energy to finish. */
  | 'protected';

/** A drive whose power can be cut. */
export interface Drive {
  readonly device: BlockDevice;
  /** Power is lost now; what is in flight is never given back. */
  powerCut(): void;
  /** Power comes back; the time that the drive needs for it, ns. */
  powerOn(): number;
  /** Throws if a table of the drive contradicts another. Absent: nobody can look. */
  readonly inspect?: () => void;
}

/** A kind of drive that is tested. Sectors are blocks of 4 KiB: the unit that a write leaves old or new. */
export interface DriveSubject {
  readonly name: string;
  readonly promise: BufferPromise;
  /** A new drive, for a seed that decides about everything random in it. */
  readonly make: (simulator: Simulator, seed: number) => Drive;
}
