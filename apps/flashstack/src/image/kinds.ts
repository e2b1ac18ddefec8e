import type { BlockDevice } from '@flashstack/block-device';
import type { ParameterTable, ParameterValues, Task } from '@flashstack/sim';
import type { FileSystem, FsEnvironment } from '@flashstack/vfs';
import { ext4Image } from './ext4-image.js';
import type { Tree } from './tree.js';

/** Bytes at the start of an image by which its file system is recognised. */
export const HEAD_BYTES = 4096;

/** Facts in groups, for people; `json` holds the same and more for programs. */
export interface Facts {
  readonly rows: readonly (readonly [name: string, value: string])[];
  /** A longer table, shown with `--verbose`. */
  readonly details: { readonly align: string; readonly rows: readonly (readonly string[])[] } | null;
  readonly json: unknown;
}

/** How numbers and times are written in facts. */
export interface Wording {
  count(value: number): string;
  bytes(value: number): string;
  time(sec: number): string;
}

/** What the head of an image tells. */
export interface Recognised {
  /** Bytes of the whole file system, and of one of its blocks. */
  readonly bytes: number;
  readonly blockBytes: number;
}

/** A kind of file system in image files. A further one is a further row of `imageKinds`. */
export interface ImageKind {
  readonly name: string;
  readonly summary: string;
  /** What `-O` may set. */
  readonly options: ParameterTable;
  /** The file system whose superblock the head of an image holds, or null if it holds none of this kind. */
  recognise(head: Uint8Array): Recognised | null;
  /** @param random bytes for identifiers that no option gives. @throws InputError */
  make(
    device: BlockDevice,
    options: ParameterValues,
    timeSec: number,
    random: (bytes: number) => Uint8Array,
  ): Task<void>;
  /** A file system to mount for writing, on blocks of 4 KiB. */
  open(device: BlockDevice, environment: FsEnvironment): FileSystem;
  /** Replays what a power cut or a mount left, if there is something: what was done, in words; otherwise null. */
  recover(device: BlockDevice): Task<string | null>;
  tree(device: BlockDevice): Task<Tree>;
  /** Problems, a line each. `recovered`: `recover` has done something. */
  check(device: BlockDevice, nowSec: number, recovered: boolean): Task<string[]>;
  describe(device: BlockDevice, wording: Wording): Task<Facts>;
  /** What the log holds that `recover` would replay. @throws FsError EINVAL for one without a journal */
  journal(device: BlockDevice, wording: Wording): Task<Facts>;
}

/** The file systems that images may hold. */
export const imageKinds: readonly ImageKind[] = [ext4Image];
