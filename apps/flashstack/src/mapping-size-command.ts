import { amountAdvice, parseAmount } from '@flashstack/experiment';
import { type MappedSpace, mappingTableBytes, mappingTables, type TableScheme, tableSchemes } from '@flashstack/ftl';
import { InputError } from '@flashstack/sim';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import { table, wrap } from './terminal.js';

const LIMIT = 80;
/** Slot and block of a space that says nothing else. */
const SLOT = 4096;
const BLOCK = 512 * 1024;
const CAPACITIES = [240, 512, 1024, 2048].map((gib) => gib * 2 ** 30);

/** Options of `mapping-size`, as typed. */
export interface MappingSizeFlags {
  readonly capacity?: readonly string[];
  readonly slot?: string;
  readonly block?: string;
  readonly superblock?: string;
  readonly metadata?: string;
  readonly zone?: string;
  readonly logBlocks?: string;
  readonly cachedEntries?: string;
  readonly json?: boolean;
}

const titles: Readonly<Record<TableScheme, string>> = {
  page: 'page mapping',
  dftl: 'DFTL',
  block: 'block mapping',
  hybrid: 'hybrid (BAST, SAST, FAST, LAST)',
  segment: 'application-managed flash',
  disaggregate: 'disaggregate (OrcFS)',
  zoned: 'zoned namespace',
};

/** `flashstack mapping-size`: what the mapping tables of every scheme take in controller RAM. */
export function runMappingSize(flags: MappingSizeFlags, session: Session): void {
  const shape: Omit<MappedSpace, 'capacityBytes'> = {
    ...given('slotBytes', amount('--slot', 'size', flags.slot)),
    ...given('blockBytes', amount('--block', 'size', flags.block)),
    ...given('superblockBytes', amount('--superblock', 'size', flags.superblock)),
    ...given('metadataBytes', amount('--metadata', 'size', flags.metadata)),
    ...given('zoneBytes', amount('--zone', 'size', flags.zone)),
    ...given('logBlocks', amount('--log-blocks', 'count', flags.logBlocks)),
    ...given('cmtEntries', amount('--cached-entries', 'count', flags.cachedEntries)),
  };
  const capacities = flags.capacity?.map((text) => amount('--capacity', 'size', text) as number) ?? CAPACITIES;
  const spaces = capacities.map((capacityBytes) => ({ ...shape, capacityBytes }));
  for (const space of spaces) check(space, session);
  if (flags.json === true) session.print(`${JSON.stringify(spaces.map(asJson), null, 1)}\n`);
  else session.print(`${render(spaces, session).join('\n')}\n`);
}

const flagOf: Readonly<Record<string, string>> = {
  capacityBytes: '--capacity',
  slotBytes: '--slot',
  blockBytes: '--block',
  superblockBytes: '--superblock',
  metadataBytes: '--metadata',
  zoneBytes: '--zone',
  logBlocks: '--log-blocks',
  cmtEntries: '--cached-entries',
};

/** @throws UsageError that names the flag, and the capacity that it does not fit. */
function check(space: MappedSpace, { style }: Session): void {
  const { capacityBytes, slotBytes = SLOT, blockBytes = BLOCK, cmtEntries = 0, logBlocks = 0 } = space;
  const capacity = `a capacity of ${style.numbers.bytes(capacityBytes)}`;
  for (const [key, found, unit, what] of [
    ['cmtEntries', cmtEntries, slotBytes, 'entries, one for each slot'],
    ['logBlocks', logBlocks, blockBytes, 'blocks'],
  ] as const) {
    const most = Math.ceil(capacityBytes / unit);
    if (found > most) throw new UsageError(`${flagOf[key]} is ${found}, but ${capacity} has ${most} ${what}.`);
  }
  try {
    for (const scheme of tableSchemes) mappingTables(scheme, space);
  } catch (error) {
    if (!(error instanceof InputError) || flagOf[error.key] === undefined) throw error;
    const text = error.message.replace(/\b\w+Bytes\b|\bcmtEntries\b|\blogBlocks\b/g, (key) => flagOf[key] ?? key);
    throw new UsageError(`${text}, for ${capacity}.`);
  }
}

function given<K extends keyof MappedSpace>(key: K, value: number | undefined): Partial<Record<K, number>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Record<K, number>>);
}

function amount(flag: string, kind: 'size' | 'count', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = parseAmount(kind, text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  const what = kind === 'size' ? 'size such as 1TiB' : 'number such as 4096';
  throw new UsageError(`${flag} is "${text}", expected a whole ${what}.`, [amountAdvice(kind, text)]);
}

function asJson(space: MappedSpace): unknown {
  const schemes = tableSchemes.map((scheme) => [
    scheme,
    { bytes: mappingTableBytes(scheme, space), tables: mappingTables(scheme, space) },
  ]);
  return { ...space, schemes: Object.fromEntries(schemes) as unknown };
}

function render(spaces: readonly MappedSpace[], { style }: Session): string[] {
  const { numbers } = style;
  const head = ['', ...spaces.map(({ capacityBytes }) => numbers.bytes(capacityBytes))];
  const rows = tableSchemes.map((scheme) => [
    titles[scheme],
    ...spaces.map((space) => numbers.bytes(mappingTableBytes(scheme, space))),
  ]);
  const ratio = (of: TableScheme, to: TableScheme): string[] =>
    spaces.map((space) => numbers.short(mappingTableBytes(of, space) / mappingTableBytes(to, space)));
  const ratios = [
    ['page mapping / disaggregate', ...ratio('page', 'disaggregate')],
    ['application-managed / disaggregate', ...ratio('segment', 'disaggregate')],
    ['page / application-managed', ...ratio('page', 'segment')],
  ];
  const lines = table([head, ...rows, [''], ...ratios], `l${'r'.repeat(spaces.length)}`);
  return [
    style.tone('strong', 'Mapping tables in controller RAM'),
    '',
    style.tone('dim', lines[0]),
    ...lines.slice(1),
    '',
    ...wrap(
      'Entries of 4 bytes. Disaggregate mapping maps pages of what F2FS keeps in place (checkpoint, SIT, NAT, SSA) and ' +
        'superblocks of the rest; superblocks and zones have 256 MiB; hybrid schemes keep pages of 3 % log blocks, DFTL 1 % of the entries, unless said otherwise.',
      LIMIT,
    ).map((line) => style.tone('dim', line)),
  ];
}
