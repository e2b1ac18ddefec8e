import {
  allocationOrders,
  type MappingScheme,
  type StreamPolicy,
  type VictimPolicy,
  type WearLevelling,
} from '@flashstack/ftl';
import { defaultVssimDelays, type VssimDelays } from '@flashstack/nand-device';
import type { StrategyKind } from '@flashstack/sim';
import type {
  BufferConfig,
  FirmwareConfig,
  HostConfig,
  LinkConfig,
  LinkModel,
  QueueConfig,
  ReadCacheConfig,
  SchedulerConfig,
  SsdConfig,
  SsdFtlOptions,
} from '@flashstack/ssd';
import { linkStandards, queueClasses } from '@flashstack/ssd';
import { choice, count, flag, MAX_NS, rate, share, size, strategyOf, time } from './builders.js';
import { nandSections } from './nand-options.js';
import type { Option } from './option.js';
import { writeAmount } from './units.js';

// Each table is a record over all keys of a configuration, so that the compiler tells which option has no description.
type Section<T> = Readonly<Record<keyof T, Option>>;
type KeysOfUnion<T> = T extends unknown ? keyof T : never;

const link: Section<LinkConfig & Required<LinkModel>> = {
  standard: choice(
    linkStandards,
    'Rates, duplex and time per command of a standard; other keys of the link come on top.',
    'as the rates say',
  ),
  lanes: count(1, 16, 'PCIe: 1, 2, 4, 8 or 16 of the standard.', { of: 'lanes', default: '4' }),
  readBytesPerSec: rate('Device to host: payload, framing and encoding taken off.'),
  writeBytesPerSec: rate('Host to device.'),
  duplex: choice(['full', 'half'], 'Both directions at once (PCIe), or one at a time (SATA, eMMC).'),
  commandNs: time('Link time of one command besides its data.'),
  chunkBytes: size(512, 2 ** 30, 'Longer requests are cut so that their transfer overlaps flash work.'),
};

const firmware: Section<FirmwareConfig> = {
  cores: count(1, 1024, 'Processors of the controller that carry out commands.', { of: 'cores' }),
  binding: choice(
    ['lpn', 'leastLoaded', 'channel'],
    'A command belongs to the core lpn mod cores, to the first free one, or in pieces to the cores of its channels.',
  ),
  readPipelineNs: time('Latency of a read that keeps no core busy.'),
  readNs: time('Core time of a read command.'),
  writeNs: time('Core time of a write command.'),
  flushNs: time('Core time of a flush command.'),
  discardNs: time('Core time of a discard or write-zeroes command.'),
  readSlotNs: time('Core time of every slot of a read beyond the first.'),
  writeSlotNs: time('Core time of every slot of a write beyond the first.'),
  hostCore: flag('A core in front of the others that every command passes.', false),
  hostNs: time('Its time per command.', { default: '0' }),
  gcCore: flag('A core of its own for the relocation of pages.', false),
  gcPageNs: time('Core time of each relocated page.', { default: '0' }),
};

const buffer: Section<BufferConfig> = {
  slots: count(1, 2 ** 26, 'Capacity in slots (mapping units).', { of: 'slots' }),
  earlyCompletion: flag('A write is done when it is in the buffer, not only when it is programmed.'),
  drain: choice(
    ['eager', 'watermark', 'full', 'idle', 'timer'],
    'As fast as flash takes it, between watermarks, when a write does not fit, while the host is silent, or at times.',
  ),
  highWatermark: share('Dirty share of the slots at which draining begins.'),
  lowWatermark: share('Dirty share of the slots at which draining ends.'),
  inFlightSlots: count(0, 2 ** 26, 'Slots handed to the FTL at a time; 0: two program units per parallel unit.', {
    of: 'slots',
  }),
  kind: choice(
    ['single', 'double'],
    'One buffer, or two halves that are drained in turn (needs drain: full).',
    'single',
  ),
  timerNs: time('Drain timer and double buffers: time after the last drain.', {
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    default: '300ms',
  }),
  idleNs: time('Drain idle: silence of the host.', { min: 1, max: Number.MAX_SAFE_INTEGER, default: '1ms' }),
};

const readCache: Section<ReadCacheConfig> = {
  slots: count(1, 2 ** 26, 'Capacity in slots (mapping units).', { of: 'slots', default: 'no read cache' }),
  readAheadSlots: count(0, 2 ** 25, 'How far sequential reads are read ahead; 0: not at all.', {
    of: 'slots',
    default: '0',
  }),
  after: count(1, 1_000_000, 'Consecutive sequential reads from which on that is done.', { of: 'reads', default: '2' }),
  writes: flag('What has been written stays when it leaves the write buffer.', false),
};

const queue: Section<QueueConfig> = {
  depth: count(1, 2 ** 24, 'Commands the drive works on at a time.', { of: 'commands' }),
  queues: count(1, 65_536, 'Submission queues served in turn.', { of: 'queues' }),
};

const host: Section<HostConfig> = {
  kind: choice(
    ['nvme', 'sata-ncq', 'emmc'],
    'Queues under arbitration; one queue of up to 32 commands, past which a flush goes alone; one command at a time.',
    'none of them: the queues say it all',
  ),
  packedCommands: count(1, 63, 'emmc: most waiting writes that are sent under one command.', {
    of: 'writes',
    default: '1',
  }),
  cache: flag('emmc: if false, every write is durable before it is done.', true),
  flushNs: time('emmc: core time of a flush besides firmware.flushNs.', { default: '0' }),
  queuedTrim: flag('sata-ncq: if false, a discard waits until the drive is idle and goes alone.', false),
  arbitration: choice(['roundRobin', 'weightedRoundRobin'], 'nvme: all queues alike, or by class.', 'roundRobin'),
  arbitrationBurst: count(1, 128, 'nvme: most commands taken from a queue before the next has its turn.', {
    of: 'commands',
    default: '1',
  }),
  classes: {
    ...choice(queueClasses, 'Weighted: classes of queue 0, 1 and so on, over again for further queues.', 'all medium'),
    list: true,
  },
  highWeight: count(1, 256, 'Weighted: commands of high queues per turn.', { of: 'commands', default: '4' }),
  mediumWeight: count(1, 256, 'Weighted: commands of medium queues per turn.', { of: 'commands', default: '2' }),
  lowWeight: count(1, 256, 'Weighted: commands of low queues per turn.', { of: 'commands', default: '1' }),
};

const scheduler: Section<Omit<SchedulerConfig, 'vssim'>> = {
  kind: choice(
    ['timeline', 'event', 'vssim'],
    'In order of arrival (fast), queues per die with priorities and suspension, or the delay model of VSSIM.',
  ),
  policy: choice(
    ['fifo', 'readFirst', 'outOfOrder', 'priority'],
    'Event scheduler: which operation of a die goes first.',
  ),
  bus: choice(
    ['reserve', 'arbitrate'],
    "Event scheduler: book a read's transfer with its command, or when it is ready.",
  ),
};

const { switchReadNs, switchWriteNs, registerReadNs, registerWriteNs, parallel } = defaultVssimDelays;
const orPreset = (value: string): string => `as the preset says, or ${value}`;
const delay = (help: string, ns: number): Option =>
  time(`VSSIM: ${help}`, { default: orPreset(writeAmount('time', ns)) });
const vssim: Section<VssimDelays> = {
  switchReadNs: delay('from a read to a page command on another channel.', switchReadNs),
  switchWriteNs: delay('from a write to a page command on another channel.', switchWriteNs),
  registerReadNs: delay('a page from the register to the controller.', registerReadNs),
  registerWriteNs: delay('a page from the controller to the register.', registerWriteNs),
  parallel: choice(['chip', 'plane'], 'VSSIM: what works on one command at a time.', orPreset(parallel)),
};

const wearLevelling: Section<Record<KeysOfUnion<WearLevelling>, unknown>> = {
  kind: choice(['none', 'threshold', 'bet'], 'By the spread of erase counts, or by a block erasing table.', 'none'),
  delta: count(1, 1e9, 'threshold: spread of erase counts from which cold blocks are moved.', {
    of: 'erases',
    default: '100',
  }),
  interval: count(1, 1e9, 'threshold: at most one move per so many erases of a domain.', {
    of: 'erases',
    default: '5',
  }),
  k: count(0, 30, 'bet: blocks per flag are 2^k.', { default: '0' }),
  threshold: count(1, 1e9, 'bet: erases per set flag from which untouched sets are collected.', {
    of: 'erases',
    default: '100',
  }),
};

/** Kinds of strategies of the FTL, those of the user's own included. */
export interface FtlKinds {
  readonly mappings: readonly StrategyKind<MappingScheme>[];
  readonly victims: readonly StrategyKind<VictimPolicy>[];
  readonly streams: readonly StrategyKind<StreamPolicy>[];
}

const blocks = { of: 'blocks', default: 'the least that works' };
const ftl = ({ mappings, victims, streams }: FtlKinds): Section<Omit<Required<SsdFtlOptions>, 'wearLevelling'>> => ({
  mapping: strategyOf(mappings, 'How logical slots are mapped to flash.', 'page'),
  domain: choice(
    ['unit', 'die', 'superblock'],
    'What an allocation block spans, and where victims are looked for.',
    'unit',
  ),
  multiPlane: flag('Program all planes of a die together where a block spans them.', true),
  allocation: choice(['static', 'striped', 'dynamic'], 'How the domain of a write is chosen.', 'dynamic'),
  preferIdle: flag('With dynamic allocation: prefer a die that is idle.', false),
  order: choice(allocationOrders, 'Channel, way, die, plane: the fastest-varying first.', 'CWDP'),
  victim: strategyOf(victims, 'Which block garbage collection empties next.', 'greedy'),
  streams: strategyOf(streams, 'How writes are separated into streams.', 'none'),
  placement: choice(
    ['separate', 'mixed'],
    'Relocated data has frontiers of its own, or shares those of the host.',
    'separate',
  ),
  gcKeepsStream: flag('Relocated data stays in its stream.', false),
  gcMode: choice(['blocking', 'token', 'background'], 'When victims are processed.', 'token'),
  gcHard: count(1, 2 ** 24, 'Free blocks of a domain that only garbage collection may take.', blocks),
  gcLow: count(1, 2 ** 24, 'A victim is chosen when so many blocks of a domain are free.', {
    ...blocks,
    default: 'gcHard + 1',
  }),
  gcHigh: count(1, 2 ** 24, 'Blocking and background collection stop at so many.', { ...blocks, default: 'gcLow + 1' }),
  copyback: flag("Move whole pages inside a plane without the bus where the part's rules allow it.", false),
  freeOrder: choice(['youngest', 'oldest', 'fifo'], 'Which free block frontiers of the host take.', 'youngest'),
  gcFreeOrder: choice(
    ['youngest', 'oldest', 'fifo'],
    'The same for relocated data.',
    'oldest, or fifo if freeOrder is',
  ),
});

type Plain = Omit<
  SsdConfig,
  | 'name'
  | 'summary'
  | 'sources'
  | 'figures'
  | 'capacityBytes' // what a preset is called, and `device.capacity`
  | 'nand'
  | 'ftl'
  | 'link'
  | 'firmware'
  | 'buffer'
  | 'readCache'
  | 'queue'
  | 'host'
  | 'scheduler' // sections of their own
>;

const plain: Section<Plain> = {
  blockBytes: size(512, 2 ** 20, 'Logical block of the host: a power of two.'),
  powerLossProtection: flag('Capacitors: buffer and mapping survive a power cut, a flush costs no flash work.'),
  keeps: choice(['contents', 'nothing'], 'What is written can be read back, or only addresses are simulated.'),
  gatherNs: time('How long an incomplete program unit may hold back a write before it is padded.', { max: MAX_NS }),
  idleNs: time('Host silence after which the FTL is offered idle time; 0: never.', { max: Number.MAX_SAFE_INTEGER }),
};

/** Everything that can be set of a drive, by path. `link` and `buffer` may be null as a whole. */
export function driveOptions(kinds: FtlKinds): ReadonlyMap<string, Option> {
  const table = new Map<string, Option>();
  const add = (prefix: string, section: Readonly<Record<string, Option>>): void => {
    for (const [key, option] of Object.entries(section)) table.set(`${prefix}${key}`, option);
  };
  add('', plain);
  add('link.', link);
  add('firmware.', firmware);
  add('buffer.', buffer);
  add('readCache.', readCache);
  add('queue.', queue);
  add('host.', host);
  add('scheduler.', scheduler);
  add('scheduler.vssim.', vssim);
  add('ftl.', ftl(kinds));
  add('ftl.wearLevelling.', wearLevelling);
  for (const [prefix, section] of nandSections) add(prefix, section);
  return table;
}

/** Sections that may be null: a drive without a link, without a buffer, without a read cache, without a protocol, without faults. */
export const nullableSections: readonly string[] = ['link', 'buffer', 'readCache', 'host', 'nand.reliability'];
