import { noExtensions } from '@flashstack/experiment';
import { mappingName } from '@flashstack/ftl';
import {
  type ProvenanceClass,
  type PublishedFigure,
  presets,
  provenanceOf,
  resolvePreset,
  type SsdConfig,
} from '@flashstack/ssd';
import { leastCapacity } from './least-capacity.js';
import type { Session } from './session.js';
import { type Style, table, wrap } from './terminal.js';

const LIMIT = 80;
const LABEL = 11;
const cells = ['', 'SLC', 'MLC', 'TLC', 'QLC'];

/** `flashstack devices`: name, capacity and one line on each preset. */
export function listDevices(json: boolean, session: Session): void {
  if (json) {
    const list = presets.map(({ name, summary, capacityBytes, sources }) => ({
      name,
      summary,
      capacityBytes,
      sources,
    }));
    session.print(`${JSON.stringify(list, null, 2)}\n`);
    return;
  }
  const { style } = session;
  const rows = presets.map((preset) => [preset.name, style.numbers.bytes(preset.capacityBytes)]);
  const left = table(rows, 'lr');
  const lines = presets.flatMap((preset, i) => {
    const indent = ' '.repeat(left[i].length + 2);
    return wrap(preset.summary, LIMIT - indent.length).map(
      (text, line) => (line === 0 ? `${left[i]}  ` : indent) + text,
    );
  });
  session.print(`${lines.join('\n')}\n\nAll parameters of one: flashstack devices show NAME\n`);
}

/** `flashstack devices show NAME`: what a preset is made of, and where its values come from. */
export function showDevice(name: string, json: boolean, session: Session): void {
  const config = resolvePreset(name);
  const shown = { ...config, provenance: provenanceOf(name) };
  session.print(json ? `${JSON.stringify(shown, null, 2)}\n` : describe(config, session.style));
}

function describe(config: SsdConfig, style: Style): string {
  const lines = [
    style.tone('strong', config.name),
    ...wrap(config.summary, LIMIT),
    '',
    ...facts(config, style).flatMap(([label, text]) => fact(label, text, style)),
    '',
  ];
  if (config.figures.length > 0) lines.push(...figures(config.figures, style), '');
  lines.push(...provenance(config.name, style));
  lines.push(style.tone('dim', 'sources'));
  for (const source of config.sources) {
    lines.push(...wrap(source, LIMIT - 4).map((text, i) => (i === 0 ? `  ${text}` : `    ${text}`)));
  }
  return `${lines.join('\n')}\n`;
}

function fact(label: string, text: string, style: Style): string[] {
  const indent = ' '.repeat(LABEL + 2);
  return wrap(text, LIMIT - indent.length).map((line, i) =>
    i === 0 ? `  ${style.tone('dim', label.padEnd(LABEL))}${line}` : indent + line,
  );
}

/** How far a drive can be scaled down, found by trying; another mapping scheme may need more room. */
function least(config: SsdConfig, style: Style): string {
  const capacity = leastCapacity({ preset: config.name }, noExtensions);
  return capacity === null
    ? 'not by --capacity'
    : `down to ${style.numbers.bytes(capacity)} with --capacity and its own mapping`;
}

function facts(config: SsdConfig, style: Style): [string, string][] {
  const { numbers } = style;
  const { geometry, timing } = config.nand;
  const units = geometry.channels * geometry.ways * geometry.dies * geometry.planes;
  const raw = units * geometry.blocksPerPlane * geometry.pagesPerBlock * geometry.pageBytes;
  const times = (list: readonly number[]): string => [...new Set(list)].map((ns) => numbers.simulated(ns)).join(' / ');
  const spare = numbers.percent(raw / config.capacityBytes - 1);
  return [
    ['capacity', `${numbers.bytes(config.capacityBytes)} of ${numbers.bytes(raw)} flash: ${spare} over-provisioning`],
    ['scaled', least(config, style)],
    [
      'flash',
      `${numbers.counted(geometry.channels, 'channel')} × ${numbers.counted(geometry.ways, 'way')} × ` +
        `${numbers.counted(geometry.dies, 'die')} × ${numbers.counted(geometry.planes, 'plane')}, ` +
        `each ${numbers.count(geometry.blocksPerPlane)} blocks of ${geometry.pagesPerBlock} pages of ${numbers.bytes(geometry.pageBytes)}`,
    ],
    [
      'timing',
      `${cells[geometry.cellBits]}: read ${times(timing.readNs)}, program ${times(timing.programNs)}, ` +
        `erase ${numbers.simulated(timing.eraseNs)}; channel ${numbers.short(timing.channelBytesPerSec / 1e6)} MB/s`,
    ],
    ['mapping', mapping(config, style)],
    ['link', link(config, style)],
    ['firmware', firmware(config, style)],
    ['buffer', buffer(config, style)],
    [
      'queue',
      `${numbers.counted(config.queue.depth, 'command')}, ${numbers.counted(config.queue.queues, 'submission queue')}`,
    ],
    [
      'also',
      `scheduler ${config.scheduler.kind}; power-loss protection: ${config.powerLossProtection ? 'yes' : 'no'}; keeps ${config.keeps}`,
    ],
  ];
}

function mapping({ ftl, nand }: SsdConfig, style: Style): string {
  const { victim: choice = 'greedy', mapping: scheme } = ftl;
  const name = mappingName(scheme);
  if (name !== 'page') return `mapping scheme: ${name === '' ? 'own' : name}`;
  const victim = typeof choice === 'string' ? choice : 'name' in choice ? choice.name : 'own';
  const wear = ftl.wearLevelling?.kind ?? 'none';
  const unit = style.numbers.bytes(nand.geometry.slotBytes);
  return `page map of ${unit}; victims: ${victim}; GC: ${ftl.gcMode ?? 'token'}; static wear levelling: ${wear}`;
}

function link({ link: config }: SsdConfig, style: Style): string {
  if (config === null) return 'not modelled';
  const rate = (bytes: number): string => `${style.numbers.short(bytes / 1e6)} MB/s`;
  return `read ${rate(config.readBytesPerSec)}, write ${rate(config.writeBytesPerSec)}, ${config.duplex} duplex`;
}

function firmware({ firmware: config }: SsdConfig, style: Style): string {
  const { cores, readNs, writeNs } = config;
  const { numbers } = style;
  if (readNs === 0 && writeNs === 0) return 'costs nothing';
  return `${numbers.counted(cores, 'core')}; read ${numbers.simulated(readNs)}, write ${numbers.simulated(writeNs)} a command`;
}

function buffer({ buffer: config, nand }: SsdConfig, style: Style): string {
  if (config === null) return 'none: a write is done when it is programmed';
  const size = style.numbers.bytes(config.slots * nand.geometry.slotBytes);
  const done = config.earlyCompletion
    ? 'a write is done when it is in the buffer'
    : 'a write is done when it is programmed';
  return `${size}, drained ${config.drain}; ${done}`;
}

const classNames: readonly ProvenanceClass[] = ['datasheet', 'paper', 'simulator', 'calibrated', 'chosen'];

/** Which values come from what kind of source; the sources themselves are in the JSON. */
function provenance(name: string, style: Style): string[] {
  const entries = Object.entries(provenanceOf(name) ?? {});
  const lines = classNames.flatMap((kind) => {
    const paths = entries.filter(([, entry]) => entry.class === kind).map(([path]) => path);
    return paths.length === 0 ? [] : fact(kind, paths.join(', '), style);
  });
  if (lines.length === 0) return [];
  return [
    style.tone('dim', 'provenance of values, the most precise name holds; the source of each: --json'),
    ...lines,
    '',
  ];
}

const metricNames: Readonly<Record<PublishedFigure['metric'], string>> = {
  sequentialRead: 'sequential read, MB/s',
  sequentialWrite: 'sequential write, MB/s',
  randomRead: 'random read, req/s',
  randomWrite: 'random write, req/s',
};

function figures(list: readonly PublishedFigure[], style: Style): string[] {
  const { numbers } = style;
  const head = ['  figure', 'value', 'request', 'depth', 'kind', 'accepted'];
  const rows = list.map((figure) => [
    `  ${metricNames[figure.metric]}`,
    numbers.short(figure.metric.startsWith('sequential') ? figure.value / 1e6 : figure.value),
    numbers.bytes(figure.requestBytes),
    String(figure.depth),
    figure.kind,
    figure.miss === undefined ? `± ${numbers.percent(figure.tolerance)}` : 'declared miss',
  ]);
  const lines = table([head, ...rows], 'lrrrll');
  const misses = list.filter(({ miss }) => miss !== undefined);
  const reasons = misses.flatMap(({ metric, depth, miss }) =>
    wrap(`miss of ${metricNames[metric].split(',')[0]} at depth ${depth}: ${miss}`, LIMIT - 4),
  );
  return [style.tone('dim', lines[0]), ...lines.slice(1), ...reasons.map((line) => `    ${line}`)];
}
