import type { NandArray } from '@flashstack/nand-device';
import { CONTENT_HANDLE, type FtlClient } from './contract.js';

/** L2P value of a logical slot that holds nothing. */
export const UNMAPPED = -1;

/** Bits of `NandArray.flags`: kind of the slot, and what its content word is. */
export const SlotFlag = {
  /** Kinds (low three bits): user data, translation page, trim map, padding. */
  user: 0,
  translation: 1,
  trimMap: 2,
  padding: 4,
  kindMask: 7,
  /** The data could not be read when it was relocated: the slot stands for a lost one. */
  lost: 8,
  /** The content word is a handle that its owner counts. */
  handle: 128,
} as const;

/** `from` of a slot that the host writes, and of a page of the trim map. Otherwise: the slot that is copied. */
export const FROM_HOST = -1;
export const FROM_TRIM_MAP = -2;
/** `from` of a slot written by preconditioning, without contents. */
export const FROM_NOTHING = -3;
/** `from` of a slot of a translation page that is written anew. */
export const FROM_TRANSLATION = -4;

/** Told about content words that stand in one more slot. */
export interface ContentOwner {
  /** The content behind a handle was copied; `flags` as in `SlotFlag`. */
  contentCopied(word: number, flags: number): void;
}

/** Fills the columns of an array that keeps contents: sequence number, content word, flags and moves of each slot. */
export class SlotContents {
  /** Sequence number of the last slot written. */
  seq = 0;
  /** Handle of the next slot that is written with `FROM_TRIM_MAP`. */
  metaWord = 0;
  private readonly seqOf: Float64Array;
  private readonly wordOf: Uint32Array;
  private readonly flagsOf: Uint8Array;
  private readonly movesOf: Uint8Array;
  private readonly client: FtlClient;
  private readonly owner: ContentOwner;

  private constructor(array: NandArray, client: FtlClient, owner: ContentOwner) {
    this.seqOf = array.seq as Float64Array;
    this.wordOf = array.word as Uint32Array;
    this.flagsOf = array.flags as Uint8Array;
    this.movesOf = array.moves as Uint8Array;
    this.client = client;
    this.owner = owner;
  }

  /** Null for an array that keeps nothing. */
  static of(array: NandArray, client: FtlClient, owner: ContentOwner): SlotContents | null {
    return array.keeps === 'nothing' ? null : new SlotContents(array, client, owner);
  }

  /** Slot `psn` is about to hold `lpn`, taken from slot `from` or from where `FROM_HOST` and `FROM_TRIM_MAP` say. */
  fill(psn: number, lpn: number, from: number, job: number): void {
    const { seqOf, wordOf, flagsOf, movesOf } = this;
    if (from >= 0) {
      // A copy keeps the sequence number: otherwise it would win over a newer version in a scan.
      seqOf[psn] = seqOf[from];
      wordOf[psn] = wordOf[from];
      flagsOf[psn] = flagsOf[from];
      movesOf[psn] = movesOf[from] < 255 ? movesOf[from] + 1 : 255;
      if ((flagsOf[from] & SlotFlag.handle) !== 0) this.owner.contentCopied(wordOf[from], flagsOf[from]);
      return;
    }
    seqOf[psn] = ++this.seq;
    movesOf[psn] = 0;
    if (from === FROM_TRIM_MAP) {
      wordOf[psn] = this.metaWord;
      flagsOf[psn] = SlotFlag.trimMap | SlotFlag.handle;
      return;
    }
    if (from === FROM_TRANSLATION) {
      // What the page says is kept by the map cache.
      wordOf[psn] = 0;
      flagsOf[psn] = SlotFlag.translation;
      return;
    }
    const value = from === FROM_NOTHING ? 0 : this.client.slotWord(job, lpn);
    wordOf[psn] = value >= CONTENT_HANDLE ? value - CONTENT_HANDLE : value;
    flagsOf[psn] = value >= CONTENT_HANDLE ? SlotFlag.handle : SlotFlag.user;
  }

  /** Slot `psn` is about to hold padding. */
  pad(psn: number): void {
    this.seqOf[psn] = 0;
    this.wordOf[psn] = 0;
    this.flagsOf[psn] = SlotFlag.padding;
    this.movesOf[psn] = 0;
  }
}
