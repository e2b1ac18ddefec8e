import type { StrategyKind } from '@flashstack/sim';
import { type Extensions, noExtensions } from '../extensions.js';
import { driveOptions } from './drive-options.js';
import { describeOption, type Option, type OptionTable } from './option.js';
import { parameterOption } from './parameter-option.js';
import { deviceOptions, runOptions, traceOptions } from './run-options.js';
import { callTraceOptions, systemOptions } from './system-options.js';

/** Options that belong together, as a reference shows them. */
export interface OptionGroup {
  /** The path of the section, such as `nand.timing`; empty for the keys at the top. */
  readonly section: string;
  readonly title: string;
  /** By key, without the section. */
  readonly options: readonly (readonly [key: string, option: Option])[];
}

const titles: Readonly<Record<string, string>> = {
  system:
    'With it, programs work on files: file system, memory, processors. `system: memfs` is short for its file system.',
  'system.pageCache': 'Write-back of the page cache.',
  'system.blockLayer': 'Between file system and drive.',
  'system.costs': 'CPU times of system calls.',
  link: 'Cable or lanes to the host. `link: null`: not modelled; `link: pcie3x4`, `sata3` or `emmc-hs400` is short for standard and lanes.',
  firmware: 'Processors of the controller.',
  buffer: 'Write buffer in controller RAM. `buffer: null`: none.',
  readCache: 'Read cache in controller RAM. `readCache: null`: none.',
  queue: 'Command queues of the host interface.',
  host: 'Protocol of the host interface; `host: null`: none in particular.',
  scheduler: 'How flash operations are placed in time; `scheduler: event` is short for its kind.',
  'scheduler.vssim': 'Delays of the scheduler `vssim`; they stand in for command times and the rate of the channels.',
  ftl: 'Mapping, garbage collection, placement.',
  'ftl.wearLevelling': 'Static wear levelling.',
  'nand.geometry': 'Sizes of the flash, outermost level first.',
  'nand.timing': 'Times of the part and the rate of its bus.',
  'nand.features': 'What the part can do, and its rules.',
  'nand.reliability': 'Faults and wear. `nand.reliability: null`: none; otherwise from the defaults of the cell type.',
  'nand.reliability.rawBitErrors': 'Raw bit error rate.',
  'nand.reliability.ecc': 'Error correction and read retry.',
};

/** Every option of a spec, in groups, in the order in which they are shown. */
export function optionGroups(extensions: Extensions = noExtensions): readonly OptionGroup[] {
  const groups: OptionGroup[] = [
    { section: '', title: 'How drive and workload are brought together.', options: [...runOptions] },
    { section: 'device', title: 'The drive; a name is short for its preset.', options: [...deviceOptions] },
    { section: 'workload', title: 'A recorded trace; a path is short for it.', options: [...traceOptions] },
    ...extensions.workloads.map((kind) => workloadGroup('', kind)),
    { section: 'workload', title: 'With a system: system calls that strace recorded.', options: [...callTraceOptions] },
    ...extensions.fileWorkloads.map((kind) => workloadGroup('With a system: ', kind)),
    ...sections(new Map([...systemOptions(extensions)].map(([path, option]) => [`system.${path}`, option]))),
    ...sections(driveOptions(extensions)),
  ];
  for (const [what, kinds] of [
    ['ftl.mapping', extensions.mappings],
    ['ftl.victim', extensions.victims],
    ['ftl.streams', extensions.streams],
    ['system.fileSystem', extensions.fileSystems],
    ['system.readahead', extensions.readaheads],
  ] as const) {
    for (const { name, summary, parameters } of kinds) {
      groups.push({
        section: `${what}.parameters`,
        title: `name: ${name}. ${summary}`,
        options: parameters.map((parameter) => [parameter.name, parameterOption(parameter)]),
      });
    }
  }
  return groups;
}

function workloadGroup(
  when: string,
  { name, summary, parameters }: Pick<StrategyKind<unknown>, 'name' | 'summary' | 'parameters'>,
): OptionGroup {
  return {
    section: 'workload',
    title: `${when}kind: ${name}. ${summary}`,
    options: parameters.map((parameter) => [parameter.name, parameterOption(parameter)]),
  };
}

function sections(table: OptionTable): OptionGroup[] {
  const groups = new Map<string, [string, Option][]>();
  for (const [path, option] of table) {
    const at = path.lastIndexOf('.');
    const section = path.slice(0, Math.max(at, 0));
    const group = groups.get(section) ?? [];
    groups.set(section, [...group, [path.slice(at + 1), option]]);
  }
  return [...groups].map(([section, options]) => ({
    section,
    title: section === '' ? 'Other values of the drive.' : (titles[section] ?? section),
    options,
  }));
}

/** The reference page of all options, as Markdown. */
export function optionReference(extensions: Extensions = noExtensions): string {
  const lines = [
    '# Options of a spec',
    '',
    'Made from the tables that check specs, the command line and the JSON Schema. Values of a drive that are left out are',
    'those of its preset. Sizes (`4GiB`), times (`75us`), rates (`560MB/s`), shares (`7%`) and counts (`100k`) may have units.',
    'Sizes are binary, `64k` too; `64KB` and `512MB` are refused because they are read both ways: write `512MiB` or `512e6`.',
    'Rates and counts are decimal. Where a share may exceed the whole, more than 1 is written in per cent: `150%`.',
    '',
  ];
  let before: string | null = null;
  for (const { section, title, options } of optionGroups(extensions)) {
    if (section !== before) lines.push(`## ${section === '' ? 'At the top' : `\`${section}\``}`, '');
    before = section;
    lines.push(title, '');
    if (options.length === 0) {
      lines.push('No parameters.', '');
      continue;
    }
    lines.push('| key | takes | default | |', '| --- | --- | --- | --- |');
    for (const [key, option] of options) {
      lines.push(`| \`${key}\` | ${cell(describeOption(option))} | ${cell(option.default)} | ${cell(option.help)} |`);
    }
    lines.push('');
  }
  return lines.join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{', '&#123;').replaceAll('}', '&#125;');
}
