import type { RandomSource, RandomStream } from '@flashstack/sim';
import type { NandClock } from './bus.js';
import { checkNandConfig } from './check.js';
import type { NandConfig } from './config.js';
import { NandStatus } from './contract.js';
import { Geometry } from './geometry.js';
import { Reliability } from './reliability.js';
import { NandRules } from './rules.js';

/** What the array remembers of each slot's contents besides its OOB `lpn` and `origin`. */
export type NandKeeps = 'nothing' | 'contents';

/** `lpn` of a slot that holds padding. */
export const PADDING_LPN = 0xffff_ffff;

/** Values of `NandArray.bad`. */
export const BadBlock = { good: 0, factory: 1, grown: 2 } as const;

/** State of a page that is neither erased nor simply programmed. */
const Damage = { uncorrectable: 1, weak: 2 } as const;

/** What a `NandArray` needs besides its configuration. */
export interface NandArrayOptions {
  /** Default `contents`. */
  readonly keeps?: NandKeeps;
  /** Root of the random streams `nand.faults`, `nand.bitErrors` and `nand.powerCut`. */
  readonly random: RandomSource;
}

/**
 * The persistent state of a NAND device: what survives a power cut. Schedulers share it and change it when an operation
 * is issued; outcomes (failures, bit errors) are drawn at that moment too. Columns are public: a mapping layer fills the
 * slot columns before it programs and reads them in recovery.
 */
export class NandArray {
  readonly config: NandConfig;
  readonly geometry: Geometry;
  readonly keeps: NandKeeps;
  /** What a command may do; every command is checked before it changes anything. */
  readonly rules: NandRules;
  /** Faults and wear, or null. */
  readonly reliability: Reliability | null;

  /** Per block: pages programmed since the last erase (in any-order parts: one more than the highest). */
  readonly nextPage: Int32Array;
  readonly eraseCount: Int32Array;
  /** Reads since the last erase. */
  readonly readCount: Uint32Array;
  /** 0 good, 1 bad from the factory, 2 retired (`markBad`). */
  readonly bad: Uint8Array;
  /** 1: neither erased nor readable, after a torn or failed erase. */
  readonly garbage: Uint8Array;
  /** Order in which blocks were opened, stored in page 0's spare area by the mapping layer. */
  readonly openSeq: Float64Array;
  /** When the last operation that changes the block ends; a scheduler's business, not persistent. */
  readonly busyUntilNs: Float64Array;

  /** OOB per slot: logical page (`PADDING_LPN`: padding), who caused the write. */
  readonly lpn: Uint32Array;
  readonly origin: Uint8Array;
  /** Only with `keeps: 'contents'`: host sequence number, content word or handle, kind and stream, relocations. */
  readonly seq: Float64Array | null;
  readonly word: Uint32Array | null;
  readonly flags: Uint8Array | null;
  readonly moves: Uint8Array | null;
  /** Per page, only on parts with copyback: consecutive copybacks of its data. */
  readonly copybacks: Uint8Array | null;

  /** Per plane of the last multi-plane command: its status. */
  readonly planeStatus: Uint8Array;
  /** Per plane of the last program, erase or copyback: what an undo must restore (`nextPage`; −1: garbage). */
  readonly undoState: Int32Array;
  /** Retry levels the last read needed, and the array reads of its soft decode (0: none). */
  lastRetries = 0;
  lastSoftReads = 0;
  /** Simulated time; set by the scheduler that uses the array. */
  clock: NandClock = { now: 0 };

  /** Pages damaged by a power cut or a failed program: few, so a map. Empty most of the time. */
  private readonly damaged: Map<number, number> = new Map();
  private garbageBlocks = 0;
  /** Slot masks are below this. */
  private readonly slotMasks: number;
  /** Parts with partial or any-order programming: erase count × 16 + programs of the page since that erase. */
  readonly partial: Int32Array | null;
  private readonly powerCutRandom: RandomStream;

  /** @throws InputError `ERR_NAND_CONFIG` listing everything that is wrong with the configuration. */
  constructor(config: NandConfig, options: NandArrayOptions) {
    checkNandConfig(config);
    this.config = config;
    const geometry = new Geometry(config.geometry);
    this.geometry = geometry;
    this.keeps = options.keeps ?? 'contents';
    this.nextPage = new Int32Array(geometry.blocks);
    this.eraseCount = new Int32Array(geometry.blocks);
    this.readCount = new Uint32Array(geometry.blocks);
    this.bad = new Uint8Array(geometry.blocks);
    this.garbage = new Uint8Array(geometry.blocks);
    this.openSeq = new Float64Array(geometry.blocks);
    this.busyUntilNs = new Float64Array(geometry.blocks);
    this.lpn = new Uint32Array(geometry.slots);
    this.origin = new Uint8Array(geometry.slots);
    const contents = this.keeps === 'contents';
    this.seq = contents ? new Float64Array(geometry.slots) : null;
    this.word = contents ? new Uint32Array(geometry.slots) : null;
    this.flags = contents ? new Uint8Array(geometry.slots) : null;
    this.moves = contents ? new Uint8Array(geometry.slots) : null;
    const { features } = config;
    this.copybacks = features.copyback ? new Uint8Array(geometry.pages) : null;
    this.partial = features.randomPageProgram || features.nop > 1 ? new Int32Array(geometry.pages) : null;
    this.planeStatus = new Uint8Array(geometry.planes);
    this.undoState = new Int32Array(geometry.planes);
    this.slotMasks = 2 ** geometry.slotsPerPage;
    this.rules = new NandRules(this);
    this.powerCutRandom = options.random.stream('nand.powerCut');
    this.reliability = config.reliability === null ? null : new Reliability(this, config.reliability, options.random);
  }

  /** Reads slots of a page. @returns its `NandStatus`; see also `lastRetries`. */
  read(ppn: number, slotMask: number): number {
    const geometry = this.geometry;
    if (ppn >>> 0 >= geometry.pages) throw this.rules.broken('address', ppn, 'is no page of this device');
    if (slotMask <= 0 || slotMask >= this.slotMasks) {
      throw this.rules.broken('slot-mask', ppn, `read with slot mask ${slotMask}; expected 1 … ${this.slotMasks - 1}`);
    }
    const block = geometry.blockOf(ppn);
    this.readCount[block]++;
    this.lastRetries = 0;
    this.lastSoftReads = 0;
    if (geometry.pageOf(ppn) >= this.nextPage[block]) return NandStatus.erased;
    if (this.partial !== null && this.programsOf(ppn, block) === 0) return NandStatus.erased;
    if (this.reliability === null && this.damaged.size === 0 && this.garbageBlocks === 0) return NandStatus.ok;
    return this.readImperfect(ppn, block, slotMask);
  }

  /** True if no operation can fail and no page is damaged: a program that is in order succeeds, a read of it too. */
  get isIntact(): boolean {
    return this.reliability === null && this.damaged.size === 0 && this.garbageBlocks === 0;
  }

  /** A read of the whole page `from` and a program of `to`. @throws NandRuleError as both, and `relocate` unless intact. */
  relocate(from: number, to: number): void {
    if (!this.isIntact) throw this.rules.imperfect(from);
    this.read(from, this.slotMasks - 1);
    this.program(to);
  }

  /** Programs a program unit (`geometry.programPages` pages from `ppn`). @returns `ok` or `programFailed`. */
  program(ppn: number): number {
    this.rules.program(ppn);
    return this.applyProgram(ppn, 0);
  }

  /** Multi-plane read of whole pages; as `programPlanes`. `lastRetries` is that of the plane that needs most. */
  readPlanes(ppns: Int32Array, count: number): number {
    this.rules.planes(ppns, count);
    let worst: number = NandStatus.ok;
    let retries = 0;
    let softReads = 0;
    for (let i = 0; i < count; i++) {
      const status = this.read(ppns[i], this.slotMasks - 1);
      this.planeStatus[i] = status;
      if (status > worst) worst = status;
      retries = Math.max(retries, this.lastRetries);
      softReads = Math.max(softReads, this.lastSoftReads);
    }
    this.lastRetries = retries;
    this.lastSoftReads = softReads;
    return worst;
  }

  /**
   * Multi-plane program. @returns the worst status; `planeStatus[i]` is that of `ppns[i]`.
   * @throws NandRuleError `plane-…` and the rules of `program`; nothing is changed then.
   */
  programPlanes(ppns: Int32Array, count: number): number {
    this.rules.planes(ppns, count);
    for (let i = 0; i < count; i++) this.rules.program(ppns[i]);
    let worst: number = NandStatus.ok;
    for (let i = 0; i < count; i++) {
      const status = this.applyProgram(ppns[i], i);
      this.planeStatus[i] = status;
      if (status > worst) worst = status;
    }
    return worst;
  }

  /** Erases a block. @returns `ok` or `eraseFailed`. @throws NandRuleError `block-bad`, `block-erasing`, `address`. */
  erase(block: number): number {
    this.rules.erase(block);
    return this.applyErase(block, 0);
  }

  /** Multi-plane erase of blocks; as `programPlanes`. */
  erasePlanes(blocks: Int32Array, count: number): number {
    const { pagesPerBlock } = this.geometry;
    const firsts = Int32Array.from(blocks.subarray(0, count), (block) => block * pagesPerBlock);
    this.rules.planes(firsts, count);
    for (let i = 0; i < count; i++) this.rules.erase(blocks[i]);
    let worst: number = NandStatus.ok;
    for (let i = 0; i < count; i++) {
      const status = this.applyErase(blocks[i], i);
      this.planeStatus[i] = status;
      if (status > worst) worst = status;
    }
    return worst;
  }

  /** Copies a page inside its plane, OOB and all. @returns `ok`, `programFailed` or, if the source is lost, `uncorrectable`. */
  copyback(from: number, to: number): number {
    this.rules.copyback(from, to);
    const block = this.geometry.blockOf(from);
    this.readCount[block]++;
    const copies = this.copybacks as Uint8Array;
    const inherited = this.reliability === null ? 0 : this.reliability.rawBitErrorRate(from);
    const sourceLost = !this.isReadable(from);
    const status = this.applyProgram(to, 0);
    copies[to] = copies[from] + 1;
    if (this.reliability !== null) this.reliability.inherit(to, inherited);
    this.copySlots(from, to);
    if (!sourceLost) return status;
    this.damaged.set(to, Damage.uncorrectable);
    return status === NandStatus.ok ? NandStatus.uncorrectable : status;
  }

  /** True if nothing has been programmed in this page since its block's erase. */
  isErased(ppn: number): boolean {
    const block = this.geometry.blockOf(ppn);
    if (this.geometry.pageOf(ppn) >= this.nextPage[block]) return true;
    return this.partial !== null && this.programsOf(ppn, block) === 0;
  }

  /** True if the page is programmed and its data and OOB can be read: neither torn, lost nor garbage. */
  isReadable(ppn: number): boolean {
    if (this.isErased(ppn) || this.garbage[this.geometry.blockOf(ppn)] !== 0) return false;
    return this.damaged.size === 0 || this.damaged.get(ppn) !== Damage.uncorrectable;
  }

  /** True if the page was torn but is readable, with an elevated error rate. */
  isWeak(ppn: number): boolean {
    return this.damaged.size > 0 && this.damaged.get(ppn) === Damage.weak;
  }

  /** Retires a block: it takes no more programs or erases. Its pages stay readable. */
  markBad(block: number): void {
    if (this.bad[block] === BadBlock.good) this.bad[block] = BadBlock.grown;
  }

  /** Takes back a program that had not begun. Undo in reverse order of issue. */
  undoProgram(ppn: number, oldNextPage: number): void {
    this.nextPage[this.geometry.blockOf(ppn)] = oldNextPage;
    if (this.partial !== null) this.partial[ppn]--;
    for (let i = 0; i < this.geometry.programPages; i++) this.damaged.delete(ppn + i);
  }

  /** Takes back an erase that had not begun. */
  undoErase(block: number, oldNextPage: number): void {
    if (this.garbage[block] !== 0) this.setGarbage(block, 0);
    this.nextPage[block] = oldNextPage < 0 ? this.geometry.pagesPerBlock : oldNextPage;
    if (oldNextPage < 0) this.setGarbage(block, 1);
    this.eraseCount[block]--;
  }

  /** A power cut in the middle of a program: the page is lost or weak; lower pages of its word line may be lost. */
  tearProgram(ppn: number): void {
    const { geometry } = this;
    const { tornLost, pairedLost } = this.config.features;
    const block = geometry.blockOf(ppn);
    for (let i = 0; i < geometry.programPages; i++) {
      const lost = this.powerCutRandom.nextFloat() < tornLost;
      this.damaged.set(ppn + i, lost ? Damage.uncorrectable : Damage.weak);
    }
    if (geometry.config.cellBits === 1 || geometry.programPages > 1 || pairedLost === 0) return;
    const page = geometry.pageOf(ppn);
    const type = geometry.pageType[page];
    for (let lower = 0; lower < page; lower++) {
      if (geometry.wordLine[lower] !== geometry.wordLine[page] || geometry.pageType[lower] >= type) continue;
      if (this.powerCutRandom.nextFloat() < pairedLost) {
        this.damaged.set(geometry.ppn(block, lower), Damage.uncorrectable);
      }
    }
  }

  /** A power cut in the middle of an erase: the block is garbage until it is erased again. */
  tearErase(block: number): void {
    this.nextPage[block] = this.geometry.pagesPerBlock;
    this.setGarbage(block, 1);
  }

  private applyProgram(ppn: number, plane: number): number {
    const { geometry } = this;
    const block = geometry.blockOf(ppn);
    const after = geometry.pageOf(ppn) + geometry.programPages;
    this.undoState[plane] = this.nextPage[block];
    if (this.nextPage[block] < after) this.nextPage[block] = after;
    if (this.damaged.size > 0) for (let i = 0; i < geometry.programPages; i++) this.damaged.delete(ppn + i);
    if (this.copybacks !== null) this.copybacks.fill(0, ppn, ppn + geometry.programPages);
    if (this.partial !== null) this.countPartial(ppn, block);
    if (this.reliability === null) return NandStatus.ok;
    this.reliability.programmed(ppn);
    if (!this.reliability.programFails(block)) return NandStatus.ok;
    for (let i = 0; i < geometry.programPages; i++) this.damaged.set(ppn + i, Damage.uncorrectable);
    return NandStatus.programFailed;
  }

  private applyErase(block: number, plane: number): number {
    this.undoState[plane] = this.garbage[block] !== 0 ? -1 : this.nextPage[block];
    this.eraseCount[block]++;
    this.readCount[block] = 0;
    if (this.garbage[block] !== 0) this.setGarbage(block, 0);
    this.nextPage[block] = 0;
    if (this.reliability?.eraseFails(block)) {
      this.tearErase(block);
      return NandStatus.eraseFailed;
    }
    return NandStatus.ok;
  }

  private readImperfect(ppn: number, block: number, slotMask: number): number {
    if (this.garbage[block] !== 0) return NandStatus.uncorrectable;
    const damage = this.damaged.size === 0 ? undefined : this.damaged.get(ppn);
    if (damage === Damage.uncorrectable) return NandStatus.uncorrectable;
    return this.reliability === null ? NandStatus.ok : this.reliability.readPage(ppn, slotMask);
  }

  /** On parts with partial or any-order programming: programs of this page since its block's erase. */
  programsOf(ppn: number, block: number): number {
    const count = (this.partial as Int32Array)[ppn];
    return count >> 4 === this.eraseCount[block] ? count & 15 : 0;
  }

  private countPartial(ppn: number, block: number): void {
    const partial = this.partial as Int32Array;
    partial[ppn] = (this.eraseCount[block] << 4) | (this.programsOf(ppn, block) + 1);
  }

  private copySlots(from: number, to: number): void {
    const { slotsPerPage } = this.geometry;
    const source = from * slotsPerPage;
    const target = to * slotsPerPage;
    for (let slot = 0; slot < slotsPerPage; slot++) {
      this.lpn[target + slot] = this.lpn[source + slot];
      this.origin[target + slot] = this.origin[source + slot];
      if (this.seq === null || this.word === null || this.flags === null || this.moves === null) continue;
      this.seq[target + slot] = this.seq[source + slot];
      this.word[target + slot] = this.word[source + slot];
      this.flags[target + slot] = this.flags[source + slot];
      this.moves[target + slot] = Math.min(255, this.moves[source + slot] + 1);
    }
  }

  private setGarbage(block: number, value: number): void {
    this.garbageBlocks += value - this.garbage[block];
    this.garbage[block] = value;
  }
}
