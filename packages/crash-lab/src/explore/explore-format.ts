import {
  BaseImage,
  CrashDevice,
  CrashImages,
  type CrashImagesOptions,
  IdentitySet,
  type ImageChoice,
} from '@flashstack/block-device/crash';
import { runTask, Simulator } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import type { Tree } from '../judge/tree.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { BaseVolume, Machine } from './machine.js';
import { findUnusable, isTree, treeOf, unusable } from './recovery.js';
import { TreeIdentity } from './tree-identity.js';

/** What power cuts while a file system is made have left. */
export interface FormatReport {
  /** Different images that were mounted. */
  images: number;
  /** Of those, images that are refused, that hold the file system of before, and the new one. */
  refused: number;
  before: number;
  made: number;
  /** Everything else, and the image of it. */
  readonly lost: { readonly image: ImageChoice; readonly violation: Violation }[];
}

/**
 * Cuts the power wherever it matters while an empty file system is made over a volume in a base state (`blank`: over
 * zeroes). Until that has returned, the volume must be refused with an error, or be the file system of before or the new one
 * as a whole; afterwards it must be the new one.
 */
export function exploreFormat(subject: CrashSubject, base: string, options: CrashImagesOptions = {}): FormatReport {
  const under = base === 'blank' ? BaseImage.blank(subject.blocks) : new BaseVolume(subject, base, 0).device.base;
  const before = base === 'blank' ? null : identityOf(subject, new CrashDevice(under));
  const device = new CrashDevice(under);
  runTask(new Simulator(), subject.scheme.format(device));
  const returned = device.position;
  const made = identityOf(subject, new CrashDevice(device.freeze()));
  const report: FormatReport = { images: 0, refused: 0, before: 0, made: 0, lost: [] };
  const images = new CrashImages(device, options);
  const after = device.successor();
  const seen = new IdentitySet();
  for (images.begin(); images.next(); ) {
    if (!seen.add(images.low, images.high)) continue;
    report.images++;
    images.open(after);
    const found = lookAt(subject, after);
    if (found === 'refused' && images.lastCut < returned) report.refused++;
    else if (found === 'refused') lose(report, images.choice, 'the new file system is refused');
    else if (typeof found !== 'string') report.lost.push({ image: images.choice, violation: found });
    else if (found === made) report.made++;
    else if (found === before && images.lastCut < returned) report.before++;
    else lose(report, images.choice, 'neither the file system of before nor the new one');
  }
  return report;
}

function lose(report: FormatReport, image: ImageChoice, text: string): void {
  report.lost.push({ image, violation: unusable('', text) });
}

/** `refused`, the identity of the tree of a file system that is usable, or what is wrong with it. */
function lookAt(subject: CrashSubject, device: CrashDevice): string | Violation {
  const machine = new Machine(subject, device);
  try {
    machine.mount();
  } catch (error) {
    if (error instanceof FsError) return 'refused';
    return unusable('', `mount ends with ${(error as Error).name}: ${(error as Error).message}`);
  }
  const tree = treeOf(machine);
  if (!isTree(tree)) return tree;
  return findUnusable(subject, device, machine, tree)[0] ?? textOf(tree);
}

function identityOf(subject: CrashSubject, device: CrashDevice): string {
  const machine = new Machine(subject, device);
  machine.mount();
  const tree = treeOf(machine);
  if (!isTree(tree)) throw new Error(`a file system that was never cut: ${tree.text}`);
  return textOf(tree);
}

function textOf(tree: Tree): string {
  const { low, high } = new TreeIdentity().of(tree);
  return `${low},${high}`;
}
