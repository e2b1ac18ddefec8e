import { Numbers } from './numbers.js';

/** What the command line needs from the machine it runs on; tests supply their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Milliseconds, only for progress and rates. */
  nowMs(): number;
  /** Calendar time, whole seconds since 1970: for what an image says of itself. */
  epochSec(): number;
  /** Bytes that cannot be foretold, for identifiers. */
  randomBytes(count: number): Uint8Array;
  /** CPU seconds of this process so far. */
  cpuSeconds(): number;
  /** Largest resident memory of this process so far, in bytes. */
  maxRssBytes(): number;
  /** Calls back when the user interrupts (Ctrl-C); returns what takes that back. */
  onInterrupt(callback: () => void): () => void;
}

/** One of the two output streams. */
export interface Output {
  readonly isTerminal: boolean;
  write(text: string): void;
  /** Bytes as they are. */
  writeBytes(bytes: Uint8Array): void;
}

/** Names of what is coloured; the meaning, not the colour. */
export type Tone =
  | 'strong'
  | 'dim'
  | 'good'
  | 'bad'
  | 'attention'
  | 'path'
  | 'hostData'
  | 'fsNode'
  | 'journal'
  | 'cleaning'
  | 'gc'
  | 'mapping'
  | 'padding';

// Only the sixteen standard colours, so that the user's own palette applies.
const codes: Readonly<Record<Tone, string>> = {
  strong: '1',
  dim: '2',
  good: '32',
  bad: '31',
  attention: '33',
  path: '34',
  hostData: '34',
  fsNode: '36',
  journal: '32',
  cleaning: '33',
  gc: '31',
  mapping: '35',
  padding: '2',
};

const asciiOf: Readonly<Record<string, string>> = {
  '━': '=',
  '█': '#',
  '▓': '#',
  '▒': '+',
  '░': '.',
  '▊': '#',
  '▌': '#',
  '·': '-',
  '…': '...',
  '✓': 'ok',
  '✗': 'MISS',
  '◐': '(exp)',
  '⊙': '*',
  '▲': 'better',
  '▼': 'worse',
  '≈': 'same',
  '×': 'x',
  '±': '+-',
  '−': '-',
  '–': '-',
  '≥': '>=',
  '≤': '<=',
  '│': '|',
  µ: 'u',
  '\u202f': ' ',
  '\u00a0': ' ',
};

/** When colours are used. */
export type ColorMode = 'auto' | 'always' | 'never';

/** How text looks on one output: colours or none, Unicode or ASCII. */
export class Style {
  readonly color: boolean;
  readonly ascii: boolean;
  readonly numbers: Numbers;
  /** Stands before what wants attention: warnings, an interrupted run. */
  readonly attention: string;

  constructor(color: boolean, ascii: boolean) {
    this.color = color;
    this.ascii = ascii;
    this.numbers = new Numbers(ascii);
    this.attention = ascii ? '!' : '◐';
  }

  /** Text in the colour of its meaning. */
  tone(tone: Tone, text: string): string {
    return this.color && text !== '' ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text;
  }

  /** The text in the character set of the output. */
  plain(text: string): string {
    if (!this.ascii) return text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: everything that is not ASCII
    return text.replace(/[^\x00-\x7f]/g, (character) => asciiOf[character] ?? '?');
  }
}

/** Chooses the style of an output from the options and the environment. */
export function styleFor(host: Host, output: Output, mode: ColorMode, ascii: boolean): Style {
  return new Style(useColor(host, output, mode), ascii || !hasUnicode(host));
}

function useColor({ env }: Host, output: Output, mode: ColorMode): boolean {
  if (mode !== 'auto') return mode === 'always';
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return output.isTerminal && env.TERM !== 'dumb';
}

function hasUnicode({ env }: Host): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  // Without a locale there is nothing to go by; nearly every terminal of today takes UTF-8.
  return locale === undefined || locale === '' || /utf-?8/i.test(locale);
}

/** Cells that a text takes on the terminal: colours take none. */
export function width(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
  return [...text.replace(/\u001b\[[0-9;]*m/g, '')].length;
}

/**
 * Breaks a text between words so that no line is longer than `limit`; words longer than that stay whole, and a number
 * keeps its per cent sign.
 */
export function wrap(text: string, limit: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ (?!%)/)) {
    if (line !== '' && width(line) + 1 + width(word) > limit) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Columns of text, aligned; `align` holds one `l` or `r` per column. Trailing spaces are cut. */
export function table(rows: readonly (readonly string[])[], align: string, gap = 2): string[] {
  const widths = [...align].map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))));
  return rows.map((row) =>
    [...align]
      .map((side, column) => {
        const cell = row[column] ?? '';
        const space = ' '.repeat(widths[column] - width(cell));
        return side === 'r' ? space + cell : cell + space;
      })
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}
