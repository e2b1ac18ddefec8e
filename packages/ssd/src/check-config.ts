import { checkNandConfig } from '@flashstack/nand-device';
import { InputError, nearestName } from '@flashstack/sim';
import type { BufferConfig, SsdConfig } from './config.js';
import { openSlots, programSlots } from './program-unit.js';

type Range = readonly [min: number, max: number, kind?: 'real'];

const MAX_NS = 0x3fff_ffff;

const topKeys = [
  ...['name', 'summary', 'sources', 'figures', 'capacityBytes', 'blockBytes', 'nand', 'ftl', 'link', 'firmware'],
  ...['buffer', 'queue', 'scheduler', 'powerLossProtection', 'keeps', 'gatherNs', 'idleNs'],
];

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

const queueRanges: Record<string, Range> = { depth: [1, 2 ** 24], queues: [1, 65_536] };

/** Collects what is wrong, so that a user sees all of it at once. */
class Findings {
  readonly lines: string[] = [];
  firstKey = '';

  add(key: string, message: string): void {
    if (this.lines.length === 0) this.firstKey = key;
    this.lines.push(`${key}: ${message}`);
  }

  keys(path: string, value: unknown, known: readonly string[]): value is Record<string, unknown> {
    if (typeof value !== 'object' || value === null) {
      this.add(path, `expected an object, found ${show(value)}`);
      return false;
    }
    const prefix = path === '' ? '' : `${path}.`;
    for (const key of known) if (!(key in value)) this.add(`${prefix}${key}`, 'is missing');
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue;
      const nearest = nearestName(key, known);
      this.add(
        `${prefix}${key}`,
        nearest === null ? `unknown key; known are ${known.join(', ')}` : `unknown key; did you mean ${nearest}?`,
      );
    }
    return true;
  }

  section(path: string, value: unknown, ranges: Record<string, Range>, others: readonly string[]): boolean {
    if (!this.keys(path, value, [...Object.keys(ranges), ...others])) return false;
    for (const [key, range] of Object.entries(ranges))
      if (key in value) this.number(`${path}.${key}`, value[key], range);
    return true;
  }

  number(key: string, value: unknown, [min, max, kind]: Range): void {
    const fits =
      typeof value === 'number' && value >= min && value <= max && (kind === 'real' || Number.isInteger(value));
    if (fits) return;
    this.add(
      key,
      `expected ${kind === 'real' ? 'a number' : 'an integer'} from ${min} to ${max}, found ${show(value)}`,
    );
  }

  oneOf(key: string, value: unknown, allowed: readonly string[]): void {
    if (allowed.includes(value as string)) return;
    const nearest = typeof value === 'string' ? nearestName(value, allowed) : null;
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    this.add(key, `expected one of ${allowed.join(', ')}, found ${show(value)}${hint}`);
  }

  flag(key: string, value: unknown): void {
    if (typeof value !== 'boolean') this.add(key, `expected true or false, found ${show(value)}`);
  }
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
}

/**
 * Checks a configuration as it may come from a file. The options of the FTL are checked when it is made.
 * @throws InputError `ERR_SSD_CONFIG`, whose message lists every key that is wrong, what was found and what is expected;
 * `ERR_NAND_CONFIG` for the flash part.
 */
export function checkSsdConfig(config: SsdConfig): void {
  const findings = new Findings();
  if (findings.keys('', config, topKeys)) {
    if (config.link !== null && findings.section('link', config.link, linkRanges, ['duplex'])) {
      findings.oneOf('link.duplex', config.link.duplex, ['full', 'half']);
    }
    if (findings.section('firmware', config.firmware, firmwareRanges, ['binding'])) {
      findings.oneOf('firmware.binding', config.firmware.binding, ['lpn', 'leastLoaded']);
    }
    if (config.buffer !== null) checkBuffer(findings, config);
    findings.section('queue', config.queue, queueRanges, []);
    if (findings.section('scheduler', config.scheduler, {}, ['kind', 'policy', 'bus'])) {
      findings.oneOf('scheduler.kind', config.scheduler.kind, ['timeline', 'event']);
      findings.oneOf('scheduler.policy', config.scheduler.policy, ['fifo', 'readFirst', 'outOfOrder', 'priority']);
      findings.oneOf('scheduler.bus', config.scheduler.bus, ['reserve', 'arbitrate']);
    }
    findings.flag('powerLossProtection', config.powerLossProtection);
    findings.oneOf('keeps', config.keeps, ['contents', 'nothing']);
    findings.number('gatherNs', config.gatherNs, [0, MAX_NS]);
    findings.number('idleNs', config.idleNs, [0, Number.MAX_SAFE_INTEGER]);
  }
  if (findings.lines.length === 0) {
    checkNandConfig(config.nand);
    checkSizes(findings, config);
  }
  if (findings.lines.length === 0) return;
  throw new InputError('ERR_SSD_CONFIG', `impossible drive: ${findings.lines.join('; ')}`, findings.firstKey);
}

function checkBuffer(findings: Findings, config: SsdConfig): void {
  const { buffer } = config;
  if (!findings.section('buffer', buffer, bufferRanges, ['earlyCompletion', 'drain']) || buffer === null) return;
  findings.flag('buffer.earlyCompletion', buffer.earlyCompletion);
  findings.oneOf('buffer.drain', buffer.drain, ['eager', 'watermark']);
  if (buffer.lowWatermark > buffer.highWatermark) {
    findings.add(
      'buffer.lowWatermark',
      `must not exceed highWatermark (${buffer.highWatermark}), found ${buffer.lowWatermark}`,
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
  if (config.buffer !== null && programSlots(config) > 1) checkProgramUnits(findings, config, config.buffer);
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
