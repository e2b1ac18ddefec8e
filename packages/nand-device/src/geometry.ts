import type { NandGeometry } from './config.js';
import { pageTypes } from './page-table.js';

/** log2 of a power of two, otherwise −1. */
function shiftOf(n: number): number {
  return n > 0 && (n & (n - 1)) === 0 ? 31 - Math.clz32(n) : -1;
}

/**
 * Address arithmetic of a checked geometry. Addresses are integers:
 * unit = ((channel·ways + way)·dies + die)·planes + plane; block = unit·blocksPerPlane + index;
 * ppn = block·pagesPerBlock + page; psn = ppn·slotsPerPage + slot. A die is numbered over the whole device.
 */
export class Geometry {
  readonly config: NandGeometry;
  readonly channels: number;
  readonly planes: number;
  readonly blocksPerPlane: number;
  readonly pagesPerBlock: number;
  readonly slotsPerPage: number;
  /** Dies of the whole device. */
  readonly dies: number;
  /** Parallel units (planes) of the whole device. */
  readonly units: number;
  readonly blocks: number;
  readonly pages: number;
  readonly slots: number;
  /** Pages that one program command writes: 1, or `cellBits` with one-shot word-line programming. */
  readonly programPages: number;
  /** Raw capacity, bytes. */
  readonly rawBytes: number;
  /** Per physical block: its die, its channel, its plane within the die. */
  readonly dieOfBlock: Int32Array;
  readonly channelOfBlock: Uint16Array;
  readonly planeOfBlock: Uint8Array;
  /** Per die: its channel. */
  readonly channelOfDie: Int32Array;
  /** Per page of a block: 0 LSB, 1 CSB (MLC: MSB), 2 MSB, 3 top. */
  readonly pageType: Uint8Array;
  /** Per page of a block: its word line. */
  readonly wordLine: Int32Array;
  /** log2(pagesPerBlock), or −1: then divide. */
  readonly pageShift: number;
  /** log2(slotsPerPage), or −1. */
  readonly slotShift: number;

  /** `config` must have passed `checkNandConfig`. */
  constructor(config: NandGeometry) {
    this.config = config;
    this.channels = config.channels;
    this.planes = config.planes;
    this.blocksPerPlane = config.blocksPerPlane;
    this.pagesPerBlock = config.pagesPerBlock;
    this.slotsPerPage = config.pageBytes / config.slotBytes;
    this.dies = config.channels * config.ways * config.dies;
    this.units = this.dies * config.planes;
    this.blocks = this.units * config.blocksPerPlane;
    this.pages = this.blocks * config.pagesPerBlock;
    this.slots = this.pages * this.slotsPerPage;
    this.programPages = config.programUnit === 'wordline' ? config.cellBits : 1;
    this.rawBytes = this.pages * config.pageBytes;
    this.pageShift = shiftOf(config.pagesPerBlock);
    // Shifts work on 31 bits: above that slot numbers are divided.
    this.slotShift = this.slots <= 0x7fff_ffff ? shiftOf(this.slotsPerPage) : -1;
    const types = pageTypes(config);
    this.pageType = types.pageType;
    this.wordLine = types.wordLine;
    this.channelOfDie = new Int32Array(this.dies);
    const diesPerChannel = config.ways * config.dies;
    for (let die = 0; die < this.dies; die++) this.channelOfDie[die] = Math.floor(die / diesPerChannel);
    this.dieOfBlock = new Int32Array(this.blocks);
    this.channelOfBlock = new Uint16Array(this.blocks);
    this.planeOfBlock = new Uint8Array(this.blocks);
    for (let unit = 0; unit < this.units; unit++) {
      const die = Math.floor(unit / config.planes);
      const from = unit * config.blocksPerPlane;
      this.dieOfBlock.fill(die, from, from + config.blocksPerPlane);
      this.channelOfBlock.fill(this.channelOfDie[die], from, from + config.blocksPerPlane);
      this.planeOfBlock.fill(unit % config.planes, from, from + config.blocksPerPlane);
    }
  }

  /** Parallel unit of (channel, way, die of the way, plane). */
  unit(channel: number, way: number, die: number, plane: number): number {
    return ((channel * this.config.ways + way) * this.config.dies + die) * this.planes + plane;
  }

  unitOfBlock(block: number): number {
    return this.dieOfBlock[block] * this.planes + this.planeOfBlock[block];
  }

  blockOf(ppn: number): number {
    return this.pageShift >= 0 ? ppn >> this.pageShift : Math.floor(ppn / this.pagesPerBlock);
  }

  /** Page index within its block. */
  pageOf(ppn: number): number {
    return this.pageShift >= 0 ? ppn & (this.pagesPerBlock - 1) : ppn % this.pagesPerBlock;
  }

  ppn(block: number, page: number): number {
    return block * this.pagesPerBlock + page;
  }

  psn(ppn: number, slot: number): number {
    return ppn * this.slotsPerPage + slot;
  }

  ppnOfPsn(psn: number): number {
    return this.slotShift >= 0 ? psn >> this.slotShift : Math.floor(psn / this.slotsPerPage);
  }

  slotOfPsn(psn: number): number {
    return this.slotShift >= 0 ? psn & (this.slotsPerPage - 1) : psn % this.slotsPerPage;
  }

  dieOf(ppn: number): number {
    return this.dieOfBlock[this.blockOf(ppn)];
  }

  channelOf(ppn: number): number {
    return this.channelOfBlock[this.blockOf(ppn)];
  }

  /** All parts of a page address. */
  locate(ppn: number): NandAddress {
    const block = this.blockOf(ppn);
    const die = this.dieOfBlock[block];
    const { ways, dies } = this.config;
    return {
      channel: this.channelOfDie[die],
      way: Math.floor(die / dies) % ways,
      die: die % dies,
      plane: this.planeOfBlock[block],
      block: block % this.blocksPerPlane,
      page: this.pageOf(ppn),
    };
  }

  /** For messages: `ppn 70 (channel 0, way 0, die 0, plane 0, block 1, page 6)`. */
  describe(ppn: number): string {
    const at = this.locate(ppn);
    return `ppn ${ppn} (channel ${at.channel}, way ${at.way}, die ${at.die}, plane ${at.plane}, block ${at.block}, page ${at.page})`;
  }
}

/** The parts of a physical page address; `die` within its way, `block` within its plane. */
export interface NandAddress {
  readonly channel: number;
  readonly way: number;
  readonly die: number;
  readonly plane: number;
  readonly block: number;
  readonly page: number;
}
