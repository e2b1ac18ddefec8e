import { FileKind } from '@flashstack/vfs';
import type { Session } from '../session.js';
import { table, wrap } from '../terminal.js';
import type { Facts, Wording } from './kinds.js';
import type { NodeStatus, Time } from './tree.js';

const LIMIT = 80;
const LETTERS: Readonly<Record<number, string>> = {
  [FileKind.fifo]: 'p',
  [FileKind.characterDevice]: 'c',
  [FileKind.directory]: 'd',
  [FileKind.blockDevice]: 'b',
  [FileKind.regular]: '-',
  [FileKind.symlink]: 'l',
  [FileKind.socket]: 's',
};
const KINDS: Readonly<Record<number, string>> = {
  [FileKind.fifo]: 'fifo',
  [FileKind.characterDevice]: 'character device',
  [FileKind.directory]: 'directory',
  [FileKind.blockDevice]: 'block device',
  [FileKind.regular]: 'regular file',
  [FileKind.symlink]: 'symbolic link',
  [FileKind.socket]: 'socket',
};

/** Kind of a file in words. */
export function kindName(kind: number): string {
  return KINDS[kind] ?? `unknown kind ${kind}`;
}

/** Kind and permissions as `ls -l` writes them. */
export function modeText({ kind, mode }: Pick<NodeStatus, 'kind' | 'mode'>): string {
  const triple = (shift: number, special: boolean, letter: string): string => {
    const bits = mode >> shift;
    const run = (bits & 1) !== 0;
    const last = special ? (run ? letter : letter.toUpperCase()) : run ? 'x' : '-';
    return `${(bits & 4) !== 0 ? 'r' : '-'}${(bits & 2) !== 0 ? 'w' : '-'}${last}`;
  };
  const [setUid, setGid, sticky] = [0o4000, 0o2000, 0o1000].map((bit) => (mode & bit) !== 0);
  return `${LETTERS[kind] ?? '?'}${triple(6, setUid, 's')}${triple(3, setGid, 's')}${triple(0, sticky, 't')}`;
}

/** A time in UTC, to the second. */
export function secondText(sec: number): string {
  return `${new Date(sec * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A time in UTC, to the nanosecond. */
export function timeText([sec, nsec]: Time): string {
  return secondText(sec).replace(' UTC', `.${String(nsec).padStart(9, '0')} UTC`);
}

/** Major and minor number of a device node, as Linux packs them. */
export function deviceNumbers(device: number): readonly [major: number, minor: number] {
  return [(device >>> 8) & 0xfff, (device & 0xff) | ((device >>> 12) & 0xfff00)];
}

/** Size, or the numbers of a device node. */
export function sizeText(status: NodeStatus, session: Session): string {
  const isDevice = status.kind === FileKind.blockDevice || status.kind === FileKind.characterDevice;
  return isDevice ? deviceNumbers(status.device).join(', ') : session.style.numbers.count(status.size);
}

export function wordingOf({ style }: Session): Wording {
  const { numbers } = style;
  return {
    count: (value) => numbers.count(value),
    bytes: (value) => numbers.bytes(value),
    time: (sec) => (sec === 0 ? 'never' : secondText(sec)),
  };
}

/** Names and values in two columns, and the longer table if it was asked for. */
export function printFacts(title: string, facts: Facts, verbose: boolean, session: Session): void {
  const { style } = session;
  const column = Math.max(...facts.rows.map(([name]) => name.length)) + 2;
  const lines = facts.rows.flatMap(([name, value]) =>
    wrap(value, LIMIT - column - 2).map((part, at) => {
      const label = at === 0 ? style.tone('dim', name.padEnd(column)) : ' '.repeat(column);
      return `  ${label}${part}`;
    }),
  );
  const { details } = facts;
  if (details !== null && details.rows.length > 1) {
    if (verbose) {
      const [head, ...rows] = table(details.rows, details.align);
      lines.push('', style.tone('dim', head), ...rows);
    } else lines.push('', style.tone('dim', `--verbose lists all ${details.rows[0][0]}s.`));
  }
  session.print(`${[style.tone('strong', title), ...lines].join('\n')}\n`);
}
