// File names are byte strings in the packages (one UTF-16 unit a byte) and UTF-8 on the command line.

/** A text as a byte string. */
export function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A byte string as text; bytes that are no UTF-8 and control characters are written as `\xNN`, as `ls -b` does. */
export function textOf(name: string): string {
  const text = Buffer.from(name, 'latin1').toString('utf8');
  const exact = bytesOf(text) === name;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name may hold them, a terminal obeys them
  return (exact ? text : name).replace(exact ? /[\x00-\x1f\x7f-\x9f]/g : /[\x00-\x1f\x7f-\xff]/g, escaped);
}

function escaped(character: string): string {
  return bytesOf(character).replace(/./gs, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The path of an entry of a directory. */
export function joined(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`;
}

/** The last component of a path, empty for the root. */
export function baseName(path: string): string {
  return /([^/]*)\/*$/.exec(path)?.[1] ?? '';
}
