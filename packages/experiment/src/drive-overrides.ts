import type { WearLevelling } from '@flashstack/ftl';
import { defaultReliability, defaultVssimDelays } from '@flashstack/nand-device';
import { InputError, nearestName } from '@flashstack/sim';
import { type LinkModel, linkConfig, type SsdConfig } from '@flashstack/ssd';
import { checkEffects } from './effects.js';
import { mappingUses } from './equip.js';
import type { Extensions } from './extensions.js';
import { driveOptions, nullableSections } from './options/drive-options.js';
import { type OptionTable, parseOption } from './options/option.js';

/** Keys of a configuration that a spec gives in another way, and how. */
export const setElsewhere: Readonly<Record<string, string>> = {
  capacityBytes: 'The capacity is scaled by device.capacity (--capacity).',
  name: 'The name of a drive is that of its preset.',
  'ftl.logicalSlots': 'It follows from the capacity: scale that by device.capacity (--capacity).',
};

/**
 * A drive with single values replaced, by path: `{ 'ftl.victim': 'fifo', 'nand.timing.eraseNs': '2ms', buffer: null }`.
 * Values may have units. A value inside a section that the drive lacks starts from that section's defaults.
 * @throws InputError for an unknown path (with the nearest known one), an impossible value, a combination without effect.
 */
export function applyOverrides(
  config: SsdConfig,
  overrides: Readonly<Record<string, unknown>>,
  extensions: Extensions,
): SsdConfig {
  const table = driveOptions(extensions);
  let result = withLinkStandard(config, overrides, table) as unknown;
  for (const [path, value] of Object.entries(overrides)) {
    if (linkKeys.includes(path)) continue;
    const steps = path.split('.');
    result = replaced(result, steps, 0, checked(path, value, table), config);
  }
  const read = withParameters(result as SsdConfig, overrides, table);
  checkEffects(read, overrides);
  return withoutForeignWear(withoutForeignMapping(read, overrides, extensions), overrides);
}

/** The value of a path, in the units of a configuration. */
function checked(path: string, value: unknown, table: OptionTable): unknown {
  const option = table.get(path);
  if (option !== undefined) return parseOption(path, option, value);
  if (nullableSections.includes(path) && value === null) return null;
  // An element of a list, such as nand.timing.readNs.1.
  const list = table.get(path.replace(/\.\d+$/, ''));
  if (list?.list === true) return parseOption(path, { ...list, list: false }, value);
  // A parameter of a strategy; the strategy itself checks it.
  const strategy = table.get(path.replace(/\.parameters\.[^.]+$/, ''));
  if (strategy?.type === 'strategy' && strategy !== option) return value;
  throw unknownPath(path, table);
}

function unknownPath(path: string, table: OptionTable): InputError {
  const known = [...table.keys()];
  const inside = known.filter((other) => other.startsWith(`${path}.`));
  const message = `unknown key ${path} of a drive.`;
  const because = (hint: string): InputError => new InputError('ERR_UNKNOWN_NAME', `${message} ${hint}`, path);
  if (Object.hasOwn(setElsewhere, path)) return because(setElsewhere[path]);
  if (inside.length > 0) return because(`It is a section; set one of its values, such as ${inside[0]}.`);
  const prefix = path.slice(0, path.lastIndexOf('.') + 1);
  const siblings = known.filter((other) => other.startsWith(prefix));
  const meant = nearestName(path, siblings.length > 0 && prefix !== '' ? siblings : known) ?? bySuffix(path, known);
  if (meant !== null) return because(`Did you mean ${meant}?`);
  const sections = [...new Set(known.map((other) => other.split('.')[0]))];
  return because(`Known sections: ${sections.join(', ')}. See: flashstack schema`);
}

/** `channels` for `nand.geometry.channels`: a key without its section. */
function bySuffix(path: string, known: readonly string[]): string | null {
  const exact = known.filter((other) => other.endsWith(`.${path}`));
  return exact.length === 1 ? exact[0] : null;
}

function replaced(node: unknown, steps: readonly string[], depth: number, value: unknown, config: SsdConfig): unknown {
  if (depth === steps.length) return value;
  const step = steps[depth];
  const inner = (part: unknown): unknown => replaced(part, steps, depth + 1, value, config);
  if (Array.isArray(node)) {
    const at = Number(step);
    if (at >= node.length) {
      const path = steps.join('.');
      throw new InputError(
        'ERR_OPTION_VALUE',
        `${path}: the list has ${node.length} entries, 0 to ${node.length - 1}.`,
        path,
      );
    }
    return node.map((item, index) => (index === at ? inner(item) : item));
  }
  const section = steps.slice(0, depth).join('.');
  const from = node ?? sectionDefaults(section, config);
  // `victim: greedy` is short for a strategy without parameters.
  const map = typeof from === 'string' ? { name: from, parameters: {} } : (from as Record<string, unknown>);
  return { ...map, [step]: inner(Object.hasOwn(map, step) ? map[step] : undefined) };
}

/** With the strategies checked of which single parameters are asked for, as they may have units. */
function withParameters(
  config: SsdConfig,
  overrides: Readonly<Record<string, unknown>>,
  table: OptionTable,
): SsdConfig {
  let ftl = config.ftl;
  for (const key of ['mapping', 'victim', 'streams'] as const) {
    const path = `ftl.${key}`;
    const option = table.get(path);
    if (option === undefined || !Object.keys(overrides).some((asked) => asked.startsWith(`${path}.parameters.`)))
      continue;
    ftl = { ...ftl, [key]: parseOption(path, option, ftl[key]) };
  }
  return ftl === config.ftl ? config : { ...config, ftl };
}

const linkKeys: readonly string[] = ['link.standard', 'link.lanes'];

/** With the link of a standard, if one is asked for; what else is asked of the link comes on top. */
function withLinkStandard(
  config: SsdConfig,
  overrides: Readonly<Record<string, unknown>>,
  table: OptionTable,
): SsdConfig {
  const [standard, lanes] = linkKeys.map((path) =>
    overrides[path] === undefined ? undefined : checked(path, overrides[path], table),
  ) as [LinkModel['standard'] | undefined, number | undefined];
  if (standard === undefined) {
    if (lanes === undefined) return config;
    const what = 'link.lanes has no meaning without link.standard: set both, such as pcie3 and 4.';
    throw new InputError('ERR_OPTION_VALUE', what, 'link.lanes');
  }
  const { slotBytes } = config.nand.geometry;
  const chunkBytes = config.link?.chunkBytes ?? Math.ceil(16_384 / slotBytes) * slotBytes;
  return { ...config, link: linkConfig({ standard, ...(lanes === undefined ? {} : { lanes }) }, chunkBytes) };
}

/** With the delays of VSSIM, if its scheduler was asked for and the preset has none. */
export function withVssimDelays(config: SsdConfig): SsdConfig {
  const { scheduler } = config;
  if (scheduler.kind !== 'vssim' || scheduler.vssim !== undefined) return config;
  return { ...config, scheduler: { ...scheduler, vssim: defaultVssimDelays } };
}

function sectionDefaults(section: string, { nand }: SsdConfig): Record<string, unknown> {
  if (section === 'nand.reliability') return { ...defaultReliability(nand.geometry.cellBits) };
  if (section === 'buffer') {
    return { earlyCompletion: true, drain: 'eager', highWatermark: 0.75, lowWatermark: 0.5, inFlightSlots: 0 };
  }
  if (section === 'scheduler.vssim') return { ...defaultVssimDelays };
  if (section === 'readCache') return { readAheadSlots: 0, after: 2 };
  if (section === 'link') return { duplex: 'full', commandNs: 0, chunkBytes: 2 ** 20 };
  return {};
}

/** Without the preset's options of the FTL that the scheme asked for does not use; those asked for stay, and are refused. */
function withoutForeignMapping(
  config: SsdConfig,
  overrides: Readonly<Record<string, unknown>>,
  extensions: Extensions,
): SsdConfig {
  const asked = Object.keys(overrides);
  if (!asked.some((path) => path.split('.').slice(0, 2).join('.') === 'ftl.mapping')) return config;
  const uses = mappingUses(config, extensions);
  if (uses === undefined) return config;
  const stays = (key: string): boolean =>
    key === 'mapping' ||
    (uses as readonly string[]).includes(key) ||
    asked.some((path) => path === `ftl.${key}` || path.startsWith(`ftl.${key}.`));
  return { ...config, ftl: Object.fromEntries(Object.entries(config.ftl).filter(([key]) => stays(key))) };
}

const wearKeys: Readonly<Record<string, readonly string[]>> = {
  none: [],
  threshold: ['delta', 'interval'],
  bet: ['k', 'threshold'],
};

/** Without the options of another kind of wear levelling that the preset had. @throws InputError for one that is asked for. */
function withoutForeignWear(config: SsdConfig, overrides: Readonly<Record<string, unknown>>): SsdConfig {
  const { wearLevelling } = config.ftl;
  if (wearLevelling === undefined) return config;
  const { kind = 'none', ...options } = wearLevelling as { kind?: string } & Record<string, unknown>;
  const kept: Record<string, unknown> = { kind };
  for (const [key, value] of Object.entries(options)) {
    const path = `ftl.wearLevelling.${key}`;
    if (wearKeys[kind].includes(key)) {
      kept[key] = value;
    } else if (Object.hasOwn(overrides, path)) {
      const of = Object.keys(wearKeys).find((other) => wearKeys[other].includes(key));
      const what = `${path} has no meaning with ftl.wearLevelling.kind ${kind}; it belongs to kind ${of}.`;
      throw new InputError('ERR_OPTION_VALUE', what, path);
    }
  }
  return { ...config, ftl: { ...config.ftl, wearLevelling: kept as unknown as WearLevelling } };
}
