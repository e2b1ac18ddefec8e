// The colours of reports. A figure names tokens only; which value a token has is the theme's matter. The limits of
// contrast and of colour difference that they keep are checked by test/tokens.test.ts.

const lightTokens = {
  page: '#fbfaf7',
  surface: '#ffffff',
  sunken: '#f3f2ed',
  rule: '#dfddd5',
  grid: '#ebe9e2',
  ink: '#15181d',
  muted: '#5a606b',
  faint: '#676d77',
  accent: '#2450c8',
  hatch: 'rgba(255,255,255,.62)',
  pass: '#11734f',
  miss: '#b8210c',
  warn: '#8a5a00',
  skip: '#5a606b',
  passBg: '#e3f3ea',
  missBg: '#fbe6e1',
  warnBg: '#fbf0d6',
  skipBg: '#eeede8',
  hostData: '#274a9a',
  fsNode: '#009c9c',
  journal: '#6cd36d',
  checkpoint: '#556d3c',
  cleaning: '#d98d01',
  gc: '#cf1a05',
  merge: '#8f0462',
  mapping: '#9381f5',
  padding: '#abb6c5',
  queue: '#b19508',
  link: '#657190',
  firmware: '#3c3e45',
  buffer: '#edb74f',
  map: '#9381f5',
  bus: '#00b09a',
  die: '#a6c1fd',
  array: '#0642b8',
  transfer: '#90047f',
  gcWait: '#cf1a05',
  read: '#007a74',
  write: '#274a9a',
  ext4: '#353e52',
  f2fs: '#2a4dcf',
  orcfs: '#d53422',
  btrfs: '#0eb590',
  nilfs2: '#a467f9',
  lfs: '#d29509',
  opRead: '#00b09a',
  opProgram: '#274a9a',
  opErase: '#15181d',
  opGc: '#cf1a05',
  opSusp: '#a39e90',
  opIdle: '#efede6',
  h0: '#f3f2ed',
  h1: '#e2e8f4',
  h2: '#c8d6ef',
  h3: '#a8c0e8',
  h4: '#86a8df',
  h5: '#638dd3',
  h6: '#4573c3',
  h7: '#2f5aab',
  h8: '#1f438c',
};

/** Name of a colour. */
export type Token = keyof typeof lightTokens;
/** A value for every token. */
export type Theme = Readonly<Record<Token, string>>;

/** Colours on a light ground; also in print. */
export const light: Theme = lightTokens;

/** Colours on a dark ground. */
export const dark: Theme = {
  page: '#0e1115',
  surface: '#14171c',
  sunken: '#1a1e25',
  rule: '#2a303a',
  grid: '#22272f',
  ink: '#e9ebee',
  muted: '#a3abb7',
  faint: '#8b94a1',
  accent: '#7fa6ff',
  hatch: 'rgba(14,17,21,.6)',
  pass: '#4fd39b',
  miss: '#ff7a63',
  warn: '#f0be55',
  skip: '#a3abb7',
  passBg: '#12291f',
  missBg: '#331713',
  warnBg: '#2c2410',
  skipBg: '#20252d',
  hostData: '#058dfc',
  fsNode: '#4bdfe5',
  journal: '#059149',
  checkpoint: '#c3a900',
  cleaning: '#fed29f',
  gc: '#ee3f0a',
  merge: '#ae3ca4',
  mapping: '#b6a3ff',
  padding: '#5e5f65',
  queue: '#722300',
  link: '#878788',
  firmware: '#4a5571',
  buffer: '#eec229',
  map: '#b6a3ff',
  bus: '#2fcaab',
  die: '#badefe',
  array: '#526ce8',
  transfer: '#7b03af',
  gcWait: '#ee3f0a',
  read: '#2fcaab',
  write: '#4da3ff',
  ext4: '#a6c3df',
  f2fs: '#4785fa',
  orcfs: '#fe7519',
  btrfs: '#1bcf97',
  nilfs2: '#b67dc6',
  lfs: '#efd223',
  opRead: '#2fcaab',
  opProgram: '#3f86f2',
  opErase: '#e9ebee',
  opGc: '#ee3f0a',
  opSusp: '#7d766a',
  opIdle: '#1c2027',
  h0: '#171b21',
  h1: '#1a2740',
  h2: '#1d3560',
  h3: '#204684',
  h4: '#2a5cab',
  h5: '#4179cf',
  h6: '#699be6',
  h7: '#9cc0f5',
  h8: '#d8e6fd',
};

/** A token as a colour of a style sheet or a figure. */
export function color(token: Token): string {
  return `var(--${token})`;
}

/** Tokens of a theme as declarations of CSS custom properties. */
export function declarations(theme: Theme): string {
  return Object.entries(theme)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');
}

/** The same text with every token replaced by its value, for programs that know no custom properties. */
export function withColors(text: string, theme: Theme): string {
  return text.replace(/var\(--(\w+)\)/g, (whole, name: string) => theme[name as Token] ?? whole);
}

/** Steps of a magnitude, from nothing to most. */
export const magnitudes: readonly Token[] = ['h0', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8'];

/** How a phase, an origin or a cause is drawn. Hatched: something waits, or is a variety of what has the same colour. */
export interface Swatch {
  readonly token: Token;
  readonly label: string;
  readonly hatched: boolean;
  /** Its key is the outline of a diamond: a published value. */
  readonly outlined?: boolean;
}

/** Phases of a request by their name in the metrics. Solid: the drive works for the request. Hatched: it waits. */
export const phaseSwatches: Readonly<Record<string, Swatch>> = {
  queue: { token: 'queue', label: 'queue wait', hatched: true },
  link: { token: 'link', label: 'link', hatched: false },
  firmware: { token: 'firmware', label: 'firmware', hatched: false },
  buffer: { token: 'buffer', label: 'buffer wait', hatched: true },
  mapping: { token: 'map', label: 'map', hatched: false },
  bus: { token: 'bus', label: 'bus wait', hatched: true },
  die: { token: 'die', label: 'die wait', hatched: true },
  array: { token: 'array', label: 'array', hatched: false },
  transfer: { token: 'transfer', label: 'transfer', hatched: false },
  gc: { token: 'gcWait', label: 'GC interference', hatched: true },
};

/** What flash programs are for, in the order in which they are stacked. */
export const causeSwatches: Readonly<Record<string, Swatch>> = {
  host: { token: 'hostData', label: 'host data', hatched: false },
  gc: { token: 'gc', label: 'GC copies', hatched: false },
  wearLevelling: { token: 'gc', label: 'wear levelling', hatched: true },
  refresh: { token: 'merge', label: 'refresh', hatched: false },
  retirement: { token: 'merge', label: 'bad blocks', hatched: true },
  trimMap: { token: 'mapping', label: 'trim map', hatched: false },
  padding: { token: 'padding', label: 'padding', hatched: true },
  reprogrammed: { token: 'padding', label: 'reprogrammed', hatched: false },
  merge: { token: 'cleaning', label: 'merge copies', hatched: false },
  mapping: { token: 'mapping', label: 'translation pages', hatched: true },
  backup: { token: 'journal', label: 'backups', hatched: false },
};

/** Causes that only some mapping schemes know: shown where they are. */
export const schemeCauses: readonly string[] = ['merge', 'mapping', 'backup'];

const FREE: readonly Token[] = ['f2fs', 'orcfs', 'btrfs', 'nilfs2', 'lfs'];
const DASHES: readonly (string | undefined)[] = [undefined, undefined, '11 4', '1.5 4', '8 3 2 3'];

/** How a line of a figure is drawn; no dash: solid. */
export interface LineStyle {
  readonly token: Token;
  readonly dash: string | undefined;
}

/** How the n-th line of its kind is drawn: the free colours in order, then again with another dash. */
export function lineStyle(n: number): LineStyle {
  const at = n % FREE.length;
  const round = Math.floor(n / FREE.length);
  return { token: FREE[at], dash: DASHES[(at + 2 * round) % DASHES.length] };
}

/** Systems have a colour of their own on every page; the first word of a name tells which. */
const systemStyles: Readonly<Record<string, LineStyle>> = {
  ext4: { token: 'ext4', dash: '6 4' },
  f2fs: { token: 'f2fs', dash: undefined },
  orcfs: { token: 'orcfs', dash: undefined },
  btrfs: { token: 'btrfs', dash: '11 4' },
  nilfs2: { token: 'nilfs2', dash: '1.5 4' },
};
/** So have directions, where nothing else is in the name. */
const directionStyles: Readonly<Record<string, LineStyle>> = {
  read: { token: 'read', dash: undefined },
  reads: { token: 'read', dash: undefined },
  write: { token: 'write', dash: undefined },
  writes: { token: 'write', dash: undefined },
};

/** How lines of these names are drawn in one figure: those with a colour of their own in it, others in free ones. */
export function lineStyles(names: readonly string[]): LineStyle[] {
  const own = names.map((name) => {
    const lower = name.toLowerCase();
    const word = lower.split(/[\s,:(]/, 1)[0];
    if (Object.hasOwn(systemStyles, word)) return systemStyles[word];
    return Object.hasOwn(directionStyles, lower) ? directionStyles[lower] : null;
  });
  // Two of one system: the first keeps its colour.
  const kept = own.map((style, at) => (own.indexOf(style) === at ? style : null));
  const free = FREE.map((_, n) => lineStyle(n)).filter(({ token }) => !kept.some((style) => style?.token === token));
  let next = 0;
  return kept.map((style) => style ?? free[next++] ?? lineStyle(FREE.length + next - free.length - 1));
}
