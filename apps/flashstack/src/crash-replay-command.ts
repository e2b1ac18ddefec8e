import {
  type CrashCase,
  type CrashReplay,
  diffOfTrees,
  Explorer,
  RULE_TITLES,
  replayCase,
  treesOf,
} from '@flashstack/crash-lab';
import { writeImage as writeImageFile } from '@flashstack/crash-lab/node';
import { HostError, reasonOf } from '@flashstack/experiment/node';
import { InputError, runTask, Simulator } from '@flashstack/sim';
import { type CaseFile, readCase } from './crash-files.js';
import { type Target, targetAgain } from './crash-target.js';
import { ExitCode } from './exit-code.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import { type Style, wrap } from './terminal.js';

const LIMIT = 80;

/** Options of `crash replay`, as typed. */
export interface ReplayFlags {
  readonly module?: readonly string[];
  readonly image?: string;
  readonly json?: boolean;
}

/** What became of one case. */
interface Replayed {
  readonly file: CaseFile;
  /** Null: the file system writes something else than when the case was found. */
  readonly replay: CrashReplay | null;
  readonly difference: readonly string[];
  /** Of the workload explored anew, where it cannot be replayed. */
  readonly anew: { readonly images: number; readonly found: CrashCase | null } | null;
}

/**
 * `flashstack crash replay FILE…`: runs cases again and tells what happens. Returns the exit code: 1 if one still fails.
 */
export async function runCrashReplay(paths: readonly string[], flags: ReplayFlags, session: Session): Promise<number> {
  if (flags.image !== undefined && paths.length > 1) throw new UsageError('--image is of one case.');
  if (flags.image === '') throw new UsageError('--image is "", expected the name of a file.');
  const all: Replayed[] = [];
  for (const path of paths) {
    const file = readCase(path);
    const target = await targetAgain(file.target, flags.module);
    warnOfChanges(path, file, target, session);
    const replayed = replay(file, target);
    all.push(replayed);
    if (flags.image !== undefined) writeImage(flags.image, replayed);
    if (flags.json !== true) session.print(render(path, replayed, flags.image, session.style));
  }
  if (flags.json === true) session.print(`${JSON.stringify(all.map(asJson), null, 1)}\n`);
  return all.some(fails) ? ExitCode.no : ExitCode.done;
}

function fails({ replay, anew }: Replayed): boolean {
  return anew === null ? (replay as CrashReplay).violations.length > 0 : anew.found !== null;
}

function warnOfChanges(path: string, { target, versions }: CaseFile, now: Target, session: Session): void {
  for (const [at, { path: module, sha256 }] of target.modules.entries()) {
    if (now.description.modules[at]?.sha256 === sha256) continue;
    session.note('module', `${module} is not as it was when ${path} was found`);
  }
  if (versions.flashstack === session.version) return;
  session.note('version', `${path} was found by flashstack ${versions.flashstack}, this is ${session.version}`);
}

function replay(file: CaseFile, { subject }: Target): Replayed {
  try {
    const again = replayCase(subject, file.case);
    const trees = treesOf(subject, file.case);
    const difference = trees?.found == null ? [] : diffOfTrees(trees.made, trees.found);
    return { file, replay: again, difference, anew: null };
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'ERR_CRASH_CHOICE') throw error;
    const { workload, model, overlap, unmount, images } = file.case;
    const options = { seed: file.seed, model, overlap, unmounts: unmount ? 1 : 0, again: 1, uses: 1 };
    const explorer = new Explorer(subject, { ...options, depth: Math.max(1, images.length) });
    const found = explorer.explore(workload);
    return { file, replay: null, difference: [], anew: { images: explorer.result.counts.recovered, found } };
  }
}

function writeImage(path: string, { replay }: Replayed): void {
  if (replay === null) {
    throw new UsageError('there is no image: the file system writes something else than when the case was found.');
  }
  try {
    runTask(new Simulator(), writeImageFile(replay.image, path));
  } catch (error) {
    throw new HostError(`${path}: ${reasonOf(error, replay.image.blockCount * replay.image.blockBytes)}.`);
  }
}

function asJson(one: Replayed): unknown {
  const { file, replay, difference, anew } = one;
  return {
    fileSystem: file.target.fileSystem,
    fails: fails(one),
    violations: replay?.violations ?? (anew?.found == null ? [] : [anew.found.violation]),
    timeline: replay?.timeline ?? [],
    difference,
    exploredAnew: anew?.images ?? 0,
  };
}

function render(path: string, one: Replayed, image: string | undefined, style: Style): string {
  const { file, replay, difference, anew } = one;
  const { workload, model, violation } = file.case;
  const title = RULE_TITLES[violation.rule] ?? '';
  const lines = [
    ...wrap(`${style.tone('strong', path)}`, LIMIT),
    style.tone('dim', `${file.target.fileSystem} · begins with "${workload.base}" · ${model} · seed ${file.seed}`),
    ...wrap(`${violation.rule}: ${title}`, LIMIT),
    '',
  ];
  if (replay === null) lines.push(...anewLines(anew as NonNullable<typeof anew>, style));
  else {
    for (const line of replay.timeline) lines.push(...timelineLines(line, style));
    if (difference.length > 0) {
      lines.push('', style.tone('dim', 'as programs had made it (-), as recovery leaves it (+), changed (!)'));
      for (const line of difference) lines.push(...wrap(`  ${line}`, LIMIT));
    }
  }
  if (image !== undefined) lines.push('', `${style.tone('dim', 'image'.padEnd(8))} ${style.tone('path', image)}`);
  return `${lines.join('\n')}\n\n`;
}

function anewLines({ images, found }: NonNullable<Replayed['anew']>, style: Style): string[] {
  const { numbers } = style;
  const before =
    'The file system writes something else than when the case was found, so its workload was explored anew: ';
  if (found === null) return wrap(`${before}nothing is violated in ${numbers.counted(images, 'image')}.`, LIMIT);
  const { rule, path, text } = found.violation;
  return wrap(`${before}${rule}: ${path === '' ? '' : `${path}: `}${text}`, LIMIT);
}

/** A line of a timeline, folded under itself. */
function timelineLines(line: string, style: Style): string[] {
  const indent = /^[\s\d]*/.exec(line)?.[0].length ?? 0;
  const [first, ...more] = wrap(line.slice(indent), LIMIT - indent - 2);
  const tone = (text: string): string => {
    if (/power cut/.test(line)) return style.tone('attention', text);
    return /^[A-Z]\d+: /.test(line) ? style.tone('bad', text) : text;
  };
  return [line.slice(0, indent) + tone(first), ...more.map((text) => `${' '.repeat(indent + 2)}${tone(text)}`)];
}
