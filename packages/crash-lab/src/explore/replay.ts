import { BlockFlag, BlockOp, OriginTable } from '@flashstack/block-device';
import { CrashDevice, CrashImages, type CrashRequest, type ImageChoice } from '@flashstack/block-device/crash';
import { InputError } from '@flashstack/sim';
import type { History } from '../judge/history.js';
import { Judge } from '../judge/judge.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import type { CrashCase } from './crash-case.js';
import { BaseVolume, Machine } from './machine.js';
import { findUnusable, isTree, recover, rulesOn, treeOf } from './recovery.js';
import { runWorkload } from './run-workload.js';

/** What came of a case that was run again. */
export interface CrashReplay {
  /** Everything that is violated; empty: the case does not fail any more. */
  readonly violations: readonly Violation[];
  /** Operations and requests in order, the power cuts, what was kept and lost, and what is violated, in lines. */
  readonly timeline: readonly string[];
  /** Of the last power cut: the alternative of each open unit that was submitted last. */
  readonly lasts: readonly number[];
  /** The device as the last power cut left it: for a checker or a kernel. */
  readonly image: CrashDevice;
}

const OPERATIONS: Readonly<Record<number, string>> = {
  [BlockOp.write]: 'write',
  [BlockOp.flush]: 'flush',
  [BlockOp.discard]: 'discard',
  [BlockOp.writeZeroes]: 'write zeroes',
};
const origins: OriginTable = new OriginTable();

/**
 * Runs a case again and tells what happens.
 * @throws InputError `ERR_CRASH_CHOICE` if the file system does not write what it wrote when the case was found.
 */
export function replayCase(subject: CrashSubject, found: CrashCase): CrashReplay {
  if (subject.name !== found.subject) {
    const message = `the case is of ${found.subject}, and the subject is ${subject.name}.`;
    throw new InputError('ERR_CRASH_CASE', message, 'subject');
  }
  const { images, workload, model } = found;
  const base = new BaseVolume(subject, workload.base, Math.max(1, images.length));
  const [device] = base.levels;
  const timeline: string[] = [];
  let history: History;
  try {
    history = runWorkload(subject, device, workload, found);
  } catch (error) {
    const text = `the workload ends with ${(error as Error).name}: ${(error as Error).message}`;
    const violations = [{ rule: 'R12', path: '', text }];
    return { violations, timeline: [...requestsOf(device, -1), `R12: ${text}`], lasts: [], image: device };
  }
  let cut = -1;
  let lasts: number[] = [];
  for (const [level, choice] of images.entries()) {
    const on = base.levels[level];
    if (level > 0) {
      const machine = recover(subject, on);
      if (machine instanceof Machine) machine.host.cutPower();
    }
    const chosen = new CrashImages(on, { model });
    chosen.choose(choice);
    timeline.push(...(level === 0 ? eventsOf(on, history, choice.cut) : requestsOf(on, choice.cut)));
    timeline.push(`${at(choice.cut)} power cut${level === 0 ? '' : ' during recovery'}: ${keptOf(on, chosen, choice)}`);
    if (level === 0) {
      cut = chosen.lastCut;
      if (cut !== choice.cut) timeline.push(`${at(cut)} last moment at which that is possible: judged here`);
    }
    lasts = choice.chosen.map((_, unit) => chosen.lastOf(unit));
    chosen.open(base.levels[level + 1]);
  }
  const image = base.levels[images.length];
  const left = image.freeze();
  const violations = judgeAgain(subject, image, new Judge(history, rulesOn(subject, model)), cut);
  for (const { rule, path, text } of violations) timeline.push(`${rule}: ${path === '' ? '' : `${path}: `}${text}`);
  if (violations.length === 0) timeline.push('nothing is violated');
  return { violations, timeline, lasts, image: new CrashDevice(left) };
}

function judgeAgain(subject: CrashSubject, device: CrashDevice, judge: Judge, cut: number): Violation[] {
  const machine = recover(subject, device);
  if (!(machine instanceof Machine)) return [machine];
  const tree = treeOf(machine);
  if (!isTree(tree)) return [tree];
  return [...judge.judge(cut, tree), ...findUnusable(subject, device, machine, tree)];
}

/** Operations and requests up to a power cut, in order. */
function eventsOf(device: CrashDevice, history: History, cut: number): string[] {
  const lines: [number, string][] = [];
  for (const { process, step, begin, end, code } of history.events) {
    if (begin > cut) continue;
    const { processes } = history.workload;
    const who = processes.length > 1 ? `program ${process + 1}: ` : '';
    const what = processes[process][step].join(' ');
    lines.push([begin, `${who}${what} begins`]);
    if (end <= cut) lines.push([end, `${who}${what} ${code === 'none' ? 'is acknowledged' : `fails with ${code}`}`]);
  }
  for (const [position, text] of recordOf(device, cut)) lines.push([position, text]);
  return lines.sort((a, b) => a[0] - b[0]).map(([position, text]) => `${at(position)} ${text}`);
}

function requestsOf(device: CrashDevice, cut: number): string[] {
  return recordOf(device, cut).map(([position, text]) => `${at(position)} ${text}`);
}

function recordOf(device: CrashDevice, cut: number): [number, string][] {
  const lines: [number, string][] = [];
  for (let row = 0; row < device.length; row++) {
    const request = device.at(row);
    if (cut >= 0 && request.issued > cut) continue;
    const done =
      request.done > cut && cut >= 0
        ? ', in flight'
        : request.done === request.issued + 1
          ? ''
          : ` until ${request.done}`;
    lines.push([request.issued, `  #${row} ${describe(request)}${done}`]);
  }
  return lines;
}

function describe({ op, block, count, flags, origin }: CrashRequest): string {
  if (op === BlockOp.flush) return 'flush';
  const before = (flags & BlockFlag.preflush) !== 0 ? 'flush, then ' : '';
  const durably = (flags & BlockFlag.fua) !== 0 ? ' durably' : '';
  const blocks = count === 1 ? `block ${block}` : `blocks ${block}–${block + count - 1}`;
  return `${before}${OPERATIONS[op]} ${blocks}${durably} (${origins.nameOf(origin)})`;
}

/** What is kept and lost of what was open. */
function keptOf(device: CrashDevice, images: CrashImages, { chosen }: ImageChoice): string {
  const kept: string[] = [];
  const lost: string[] = [];
  for (const [index, alternative] of chosen.entries()) {
    const { block, sector, rows } = images.unit(index);
    const row = rows[alternative];
    const where = `block ${block}${sector < 0 ? '' : ` sector ${sector}`}`;
    const last = images.lastOf(index);
    if (alternative === last) kept.push(`${where} of #${row}`);
    else if (row < 0 || alternative === 0) lost.push(`${where} of #${rows[last]}`);
    else lost.push(`${where} of #${rows[last]} but not of #${row}`);
  }
  if (device.length === 0 || chosen.length === 0) return 'nothing is open';
  return `kept ${kept.length === 0 ? 'nothing' : kept.join(', ')}; lost ${lost.length === 0 ? 'nothing' : lost.join(', ')}`;
}

function at(position: number): string {
  return `${position}`.padStart(5);
}
