import type { BlockDevice } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import type { FileSystemScheme } from '@flashstack/vfs';
import type { DurabilityRules } from './judge/rules.js';

/** A file system that is tested: how one is made and opened, and what it promises. */
export interface CrashSubject {
  readonly name: string;
  readonly scheme: FileSystemScheme;
  /** Size of the device that most tests use, blocks of 4 KiB. */
  readonly blocks: number;
  readonly rules: DurabilityRules;
  /** Its own checker: what is wrong with an image that is not mounted, in words; absent: it has none. */
  readonly check?: (device: BlockDevice) => Task<string[]>;
}
