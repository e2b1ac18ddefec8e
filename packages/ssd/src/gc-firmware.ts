import type { CommandContext } from './command-context.js';

/**
 * Processor time of relocating pages. The FTL relocates inside its own calls and in answers of flash, so its counters are
 * looked at whenever it has been at work, and what was relocated since is charged from the look before on.
 */
export class GcFirmware {
  private readonly context: CommandContext;
  private readonly pageNs: number;
  private readonly onGcCore: boolean;
  /** Backlog of the collection core from which on writes wait: a whole block of pages. */
  private readonly mostBehindNs: number;
  private pages = 0;
  private lookedNs = 0;

  constructor(context: CommandContext) {
    const { firmware, nand } = context.config;
    this.context = context;
    this.pageNs = firmware.gcPageNs ?? 0;
    this.onGcCore = firmware.gcCore ?? false;
    this.mostBehindNs = this.pageNs * nand.geometry.pagesPerBlock;
    this.restart();
  }

  /** The counters of the FTL have just started again. */
  restart(): void {
    this.pages = this.relocated();
    this.lookedNs = this.context.simulator.now;
  }

  /** Charges what has been relocated since the last call. */
  poll(): void {
    const { timelines, simulator } = this.context;
    const pages = this.relocated();
    for (let page = this.pages; page < pages; page++) timelines.gcPage(this.onGcCore, this.lookedNs, this.pageNs);
    this.pages = pages;
    this.lookedNs = simulator.now;
  }

  /** How long a write must wait until the collection core is at most a block behind, ns. */
  stallNs(): number {
    if (!this.onGcCore) return 0;
    const { timelines, simulator } = this.context;
    return Math.max(0, timelines.gcCoreFreeNs - this.mostBehindNs - simulator.now);
  }

  private relocated(): number {
    const { moveReads, copybacks } = this.context.ftl.stats;
    return moveReads + copybacks;
  }
}
