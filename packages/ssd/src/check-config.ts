import { checkNandConfig, checkVssim } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import { checkHost } from './check-host.js';
import type { BufferConfig, SsdConfig } from './config.js';
import { Findings, type Range, show } from './findings.js';
import { openSlots, programSlots } from './program-unit.js';

const MAX_NS = 0x3fff_ffff;

const topKeys = [
  ...['name', 'summary', 'sources', 'figures', 'capacityBytes', 'blockBytes', 'nand', 'ftl', 'link', 'firmware'],
  ...['buffer', 'queue', 'scheduler', 'powerLossProtection', 'keeps', 'gatherNs', 'idleNs'],
];

const optionalKeys = ['readCache', 'host'];

const linkRanges: Record<string, Range> = {
  readBytesPerSec: [1, 1e12, 'real'],
  writeBytesPerSec: [1, 1e12, 'real'],
  commandNs: [0, MAX_NS],
  chunkBytes: [512, 2 ** 30],
};

const firmwareRanges: Record<string, Range> = {
  cores: [1, 1024],
  readPipelineNs: [0, MAX_NS],
  readNs: [0, MAX_NS],
  writeNs: [0, MAX_NS],
  flushNs: [0, MAX_NS],
  discardNs: [0, MAX_NS],
  readSlotNs: [0, MAX_NS],
  writeSlotNs: [0, MAX_NS],
};

const bufferRanges: Record<string, Range> = {
  slots: [1, 2 ** 26],
  highWatermark: [0, 1, 'real'],
  lowWatermark: [0, 1, 'real'],
  inFlightSlots: [0, 2 ** 26],
};

const bufferTimes: Record<string, Range> = {
  timerNs: [1, Number.MAX_SAFE_INTEGER],
  idleNs: [1, Number.MAX_SAFE_INTEGER],
};

const queueRanges: Record<string, Range> = { depth: [1, 2 ** 24], queues: [1, 65_536] };

/**
 * Checks a configuration as it may come from a file. The options of the FTL are checked when it is made.
 * @throws InputError `ERR_SSD_CONFIG`, whose message lists every key that is wrong, what was found and what is expected;
 * `ERR_NAND_CONFIG` for the flash part; `ERR_NAND_VSSIM` for what the scheduler `vssim` cannot do.
 */
export function checkSsdConfig(config: SsdConfig): void {
  const findings = new Findings();
  if (findings.keys('', config, topKeys, optionalKeys)) {
    if (config.link !== null && findings.section('link', config.link, linkRanges, ['duplex'])) {
      findings.oneOf('link.duplex', config.link.duplex, ['full', 'half']);
    }
    checkFirmware(findings, config);
    if (config.buffer !== null) checkBuffer(findings, config);
    checkReadCache(findings, config);
    if (findings.section('queue', config.queue, queueRanges, [])) checkHost(findings, config);
    checkScheduler(findings, config);
    findings.flag('powerLossProtection', config.powerLossProtection);
    findings.oneOf('keeps', config.keeps, ['contents', 'nothing']);
    findings.number('gatherNs', config.gatherNs, [0, MAX_NS]);
    findings.number('idleNs', config.idleNs, [0, Number.MAX_SAFE_INTEGER]);
  }
  if (findings.lines.length === 0) {
    checkNandConfig(config.nand);
    const { kind, vssim } = config.scheduler;
    if (kind === 'vssim' && vssim !== undefined) checkVssim(config.nand, vssim);
    checkSizes(findings, config);
  }
  if (findings.lines.length === 0) return;
  throw new InputError('ERR_SSD_CONFIG', `impossible drive: ${findings.lines.join('; ')}`, findings.firstKey);
}

function checkFirmware(findings: Findings, { firmware, nand }: SsdConfig): void {
  const optional = { hostNs: firmwareRanges.readNs, gcPageNs: firmwareRanges.readNs };
  if (!findings.section('firmware', firmware, firmwareRanges, ['binding'], optional, ['hostCore', 'gcCore'])) return;
  findings.oneOf('firmware.binding', firmware.binding, ['lpn', 'leastLoaded', 'channel']);
  findings.optionalFlag('firmware.hostCore', firmware.hostCore);
  findings.optionalFlag('firmware.gcCore', firmware.gcCore);
  const { hostCore = false, hostNs = 0, gcCore = false, gcPageNs = 0, cores, binding } = firmware;
  if (hostNs > 0 && !hostCore) {
    findings.add('firmware.hostNs', 'needs hostCore: true; without that core it is part of readNs, writeNs and so on');
  }
  if (gcCore && gcPageNs === 0) findings.add('firmware.gcCore', 'has nothing to do: set gcPageNs, its time per page');
  const channels = nand?.geometry?.channels;
  if (binding === 'channel' && cores > channels) {
    findings.add(
      'firmware.cores',
      `expected at most one core per channel (${channels}) with binding channel, found ${cores}`,
    );
  }
}

function checkScheduler(findings: Findings, { scheduler }: SsdConfig): void {
  if (!findings.section('scheduler', scheduler, {}, ['kind', 'policy', 'bus'], {}, ['vssim'])) return;
  findings.oneOf('scheduler.kind', scheduler.kind, ['timeline', 'event', 'vssim']);
  findings.oneOf('scheduler.policy', scheduler.policy, ['fifo', 'readFirst', 'outOfOrder', 'priority']);
  findings.oneOf('scheduler.bus', scheduler.bus, ['reserve', 'arbitrate']);
  if (scheduler.kind === 'vssim' && scheduler.vssim === undefined) {
    findings.add('scheduler.vssim', 'is missing; the scheduler vssim needs its delays');
  }
}

function checkBuffer(findings: Findings, config: SsdConfig): void {
  const { buffer } = config;
  const others = ['earlyCompletion', 'drain'];
  if (!findings.section('buffer', buffer, bufferRanges, others, bufferTimes, ['kind']) || buffer === null) return;
  const { kind = 'single', drain, earlyCompletion, highWatermark, lowWatermark } = buffer;
  findings.flag('buffer.earlyCompletion', earlyCompletion);
  findings.oneOf('buffer.drain', drain, ['eager', 'watermark', 'full', 'idle', 'timer']);
  findings.oneOf('buffer.kind', kind, ['single', 'double']);
  if (lowWatermark > highWatermark) {
    findings.add('buffer.lowWatermark', `must not exceed highWatermark (${highWatermark}), found ${lowWatermark}`);
  }
  if (kind === 'double') checkDoubleBuffer(findings, buffer);
  else if (earlyCompletion === false && drain !== 'eager') {
    findings.add(
      'buffer.drain',
      `expected eager with earlyCompletion: false, found ${show(drain)}: every write waits for its program, so that the buffer is drained as fast as flash takes it`,
    );
  }
  if (buffer.timerNs !== undefined && drain !== 'timer' && kind !== 'double') {
    findings.add('buffer.timerNs', 'has a meaning only with drain: timer or kind: double; leave it out');
  }
  if (buffer.idleNs !== undefined && drain !== 'idle') {
    findings.add('buffer.idleNs', 'has a meaning only with drain: idle; leave it out');
  }
}

function checkDoubleBuffer(findings: Findings, { slots, drain, earlyCompletion }: BufferConfig): void {
  if (slots < 2) findings.add('buffer.slots', `a double buffer needs at least one slot for each half, found ${slots}`);
  if (drain !== 'full') {
    findings.add('buffer.drain', `a double buffer drains a half when it is full: expected full, found ${show(drain)}`);
  }
  if (!earlyCompletion) {
    findings.add(
      'buffer.earlyCompletion',
      'must be true with kind: double: a write could otherwise wait for a half that nobody fills; use kind: single',
    );
  }
}

const readCacheRanges: Record<string, Range> = {
  slots: [1, 2 ** 26],
  readAheadSlots: [0, 2 ** 25],
  after: [1, 1_000_000],
};

function checkReadCache(findings: Findings, { readCache = null }: SsdConfig): void {
  if (readCache === null || !findings.section('readCache', readCache, readCacheRanges, [], {}, ['writes'])) return;
  findings.optionalFlag('readCache.writes', readCache.writes);
  const most = Math.floor(readCache.slots / 2);
  if (readCache.readAheadSlots > most) {
    findings.add(
      'readCache.readAheadSlots',
      `expected at most half of the ${readCache.slots} slots of the cache, found ${readCache.readAheadSlots}: what was read ahead would go before it is used`,
    );
  }
}

function checkSizes(findings: Findings, config: SsdConfig): void {
  const { geometry } = config.nand;
  const { blockBytes, capacityBytes } = config;
  const blocks = geometry.slotBytes / blockBytes;
  if (!Number.isInteger(blockBytes) || blockBytes < 512 || (blockBytes & (blockBytes - 1)) !== 0) {
    findings.add('blockBytes', `expected a power of two of at least 512, found ${show(blockBytes)}`);
  } else if (!Number.isInteger(blocks) || blocks > 32) {
    findings.add('blockBytes', `a slot of ${geometry.slotBytes} bytes must hold 1 to 32 whole blocks, found ${blocks}`);
  }
  if (!Number.isInteger(capacityBytes) || capacityBytes < 1 || capacityBytes % geometry.slotBytes !== 0) {
    findings.add(
      'capacityBytes',
      `expected a multiple of the slot of ${geometry.slotBytes} bytes, found ${show(capacityBytes)}`,
    );
  }
  if (config.link !== null && config.link.chunkBytes % geometry.slotBytes !== 0) {
    findings.add(
      'link.chunkBytes',
      `expected a multiple of the slot of ${geometry.slotBytes} bytes, found ${config.link.chunkBytes}`,
    );
  }
  checkCopyback(findings, config);
  if (config.buffer !== null && programSlots(config) > 1) checkProgramUnits(findings, config, config.buffer);
}

/** Copyback moves a page inside its plane: it needs a part that can, and pages and program units of one slot. */
function checkCopyback(findings: Findings, { ftl, nand }: SsdConfig): void {
  if (ftl.copyback !== true) return;
  if (!nand.features.copyback) {
    findings.add(
      'ftl.copyback',
      'the part has no copyback: set nand.features.copyback: true, or leave ftl.copyback out',
    );
  }
  const { pageBytes, slotBytes, programUnit } = nand.geometry;
  if (pageBytes > slotBytes || programUnit !== 'page' || (ftl.domain ?? 'unit') !== 'unit') {
    findings.add(
      'ftl.copyback',
      `moves whole pages inside a plane: needs pages of one slot (found ${pageBytes / slotBytes}), programUnit page (found ${programUnit}) and ftl.domain unit (found ${ftl.domain ?? 'unit'})`,
    );
  }
}

/** Slots that wait for their program unit to fill up never leave the buffer by themselves: more must fit. */
function checkProgramUnits(findings: Findings, config: SsdConfig, buffer: BufferConfig): void {
  const open = openSlots(config);
  const what = `the ${open} slots that can wait for their program units`;
  if (buffer.slots <= open) findings.add('buffer.slots', `expected more than ${what}, found ${buffer.slots}`);
  if (buffer.inFlightSlots > 0 && buffer.inFlightSlots <= open) {
    findings.add('buffer.inFlightSlots', `expected more than ${what}, found ${buffer.inFlightSlots}`);
  }
}
