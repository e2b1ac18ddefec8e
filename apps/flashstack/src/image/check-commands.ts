import { Simulator, type Task } from '@flashstack/sim';
import { ExitCode } from '../exit-code.js';
import type { Session } from '../session.js';
import { wrap } from '../terminal.js';
import type { Facts } from './kinds.js';
import { ReadImage } from './open-image.js';
import { imagePlaceOf } from './place.js';
import { openToRead } from './read-commands.js';
import { printFacts, wordingOf } from './show.js';

const LIMIT = 80;
/** Problems that are listed without `--verbose`: they and the rest fit on a screen. */
const SHOWN = 20;

/** Flags of `fsck`, `dump` and `journal`. */
export interface CheckFlags {
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** `image fsck`: everything is read and compared, nothing is repaired. Returns the exit code. */
export function runImageFsck(argument: string, { verbose, json }: CheckFlags, session: Session): number {
  const image = openToRead(argument, new Simulator(), session);
  const { recovered, kind } = image;
  let problems: string[];
  try {
    problems = image.run(kind.check(image.device, session.host.epochSec(), recovered !== null));
  } finally {
    image.close();
  }
  const code = problems.length === 0 ? ExitCode.done : ExitCode.no;
  if (json === true) {
    session.print(`${JSON.stringify({ image: argument, kind: kind.name, recovered, problems }, null, 1)}\n`);
    return code;
  }
  const { style } = session;
  const { numbers } = style;
  if (problems.length === 0) {
    const after = recovered === null ? '' : ' once its journal is replayed';
    session.print(`${style.tone('good', '✓')} ${argument}: the ${kind.name} file system is sound${after}.\n`);
    return code;
  }
  const shown = verbose === true ? problems : problems.slice(0, SHOWN);
  const lines = shown.flatMap((text) =>
    wrap(text, LIMIT - 4).map((line, at) => (at === 0 ? `  ${line}` : `    ${line}`)),
  );
  const head = `${style.tone('bad', '✗')} ${argument}: ${numbers.counted(problems.length, 'problem')} in the ${kind.name} file system.`;
  const rest = problems.length - shown.length;
  if (rest > 0) lines.push(style.tone('dim', `  --verbose lists ${numbers.count(rest)} more.`));
  session.print(`${[head, ...lines].join('\n')}\n`);
  return code;
}

/** `image dump`: what the superblock says, with `--verbose` the groups. */
export function runImageDump(argument: string, flags: CheckFlags, session: Session): void {
  printDescription(argument, flags, session, (image) => image.kind.describe(image.device, wordingOf(session)));
}

/** `image journal`: what a recovery would replay. */
export function runImageJournal(argument: string, flags: CheckFlags, session: Session): void {
  printDescription(argument, flags, session, (image) => image.kind.journal(image.device, wordingOf(session)));
}

/** Facts about an image as it is: nothing is replayed. */
function printDescription(
  argument: string,
  { verbose, json }: CheckFlags,
  session: Session,
  facts: (image: ReadImage) => Task<Facts>,
): void {
  const { image: file } = imagePlaceOf(argument);
  const image = new ReadImage(file, new Simulator(), false);
  try {
    const found = image.run(facts(image));
    if (json === true) session.print(`${JSON.stringify(found.json, null, 1)}\n`);
    else printFacts(argument, found, verbose === true, session);
  } finally {
    image.close();
  }
}
