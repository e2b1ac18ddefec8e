const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const SPACE = 32;

/**
 * Where the arguments of a call end: the index of the `)` that closes the parenthesis opened before `from`, or −1.
 * Quoted text, brackets, braces, `<…>` of `-y` and comments are passed over whole.
 */
export function closingParenthesis(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    i = skipped(text, i);
    const code = text.charCodeAt(i);
    if (code === 40 || code === 91 || code === 123) depth++;
    else if ((code === 41 || code === 93 || code === 125) && --depth === 0) return i;
  }
  return -1;
}

/** The arguments of a call: cut at the commas between them, as text. */
export function splitArguments(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    i = skipped(text, i);
    const code = text.charCodeAt(i);
    if (code === 40 || code === 91 || code === 123) depth++;
    else if (code === 41 || code === 93 || code === 125) depth--;
    else if (code === COMMA && depth === 0) {
      found.push(text.slice(start, i).trim());
      start = i + 1;
      if (text.charCodeAt(start) === SPACE) start++;
    }
  }
  const last = text.slice(start).trim();
  if (last !== '' || found.length > 0) found.push(last);
  return found;
}

/** If a quoted text or the annotation of a descriptor begins at `i`, the index of its last character; otherwise `i`. */
function skipped(text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (code === QUOTE) return closingQuote(text, i);
  // `3</path>` and `AT_FDCWD</path>`: an annotation follows a digit or a letter at once. ` <unfinished` and `1 << 2` do not.
  if (code === 60 && i > 0 && /[0-9A-Z]/.test(text[i - 1])) {
    const end = annotationEnd(text, i);
    return end < 0 ? i : end;
  }
  return i;
}

function closingQuote(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === QUOTE) return i;
  }
  return text.length;
}

/** The index of the `>` that ends the annotation beginning at `from` (`-yy` nests them), or −1. */
function annotationEnd(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 60) depth++;
    else if (code === 62 && text.charCodeAt(i - 1) !== 45 && --depth === 0) return i;
  }
  return -1;
}

/** The path that `-y` put behind a descriptor or a directory: `3</mnt/a>` → `/mnt/a`; empty if none or no path. */
export function annotation(argument: string): string {
  const found = /^(?:-?\d+|AT_FDCWD)</.exec(argument);
  if (found === null) return '';
  const end = annotationEnd(argument, found[0].length - 1);
  if (end < 0) return '';
  const path = unescaped(argument.slice(found[0].length, end).replace(/<[^<]*>$/, ''));
  return path.startsWith('/') ? path : '';
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f', a: '\x07', b: '\b' };

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(.))/g, (_, hex, octal, letter) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    return escapes[letter] ?? letter;
  });
}

/** A quoted argument as bytes (one UTF-16 unit each), or null if it is none, such as `NULL` or an address. */
export function textOf(argument: string | undefined): string | null {
  if (argument === undefined || argument.charCodeAt(0) !== QUOTE) return null;
  return unescaped(argument.slice(1, closingQuote(argument, 0)));
}

/** The number that an argument begins with: decimal, hexadecimal, or octal with a leading 0; 0 for `NULL`, else NaN. */
export function numberOf(argument: string | undefined): number {
  if (argument === undefined) return Number.NaN;
  const found = /^(-?)(0x[0-9a-fA-F]+|\d+)/.exec(argument);
  if (found === null) return argument.startsWith('NULL') ? 0 : Number.NaN;
  const digits = found[2];
  const value = /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  return found[1] === '' ? value : -value;
}

/** The descriptor that an argument names; NaN if none does, as `AT_FDCWD`. */
export function descriptorOf(argument: string | undefined): number {
  return argument === undefined ? Number.NaN : Number.parseInt(argument, 10);
}

/** True if one of the names joined by `|` is `name`. */
export function hasFlag(argument: string | undefined, name: string): boolean {
  return argument?.split('|').includes(name) ?? false;
}

/** The sum of flags by name, or −1 with names that the table does not hold; hexadecimal numbers count as they are. */
export function flagsOf(argument: string | undefined, table: Readonly<Record<string, number>>): number {
  let flags = 0;
  for (const name of (argument ?? '0').split('|')) {
    const value = /^[0-9]/.test(name) ? numberOf(name) : table[name];
    if (value === undefined || Number.isNaN(value)) return -1;
    flags |= value;
  }
  return flags;
}
