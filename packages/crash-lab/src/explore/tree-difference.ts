import { CrashImages } from '@flashstack/block-device/crash';
import type { Tree } from '../judge/tree.js';
import type { CrashSubject } from '../subject.js';
import { executeWorkload } from '../workload/execute.js';
import type { CrashCase } from './crash-case.js';
import { BaseVolume, Machine } from './machine.js';
import { isTree, recover, treeOf } from './recovery.js';
import { replayCase } from './replay.js';
import { runWorkload } from './run-workload.js';

/** Files as programs had made them, and as they are after the power cuts of a case and recovery. */
export interface TreesOfCase {
  readonly made: Tree;
  /** Null: recovery fails, or the tree cannot be read. */
  readonly found: Tree | null;
}

/** Both trees of a case that fails behind a power cut; null for one that fails without. @throws as `replayCase` */
export function treesOf(subject: CrashSubject, failing: CrashCase): TreesOfCase | null {
  const { workload, images, model } = failing;
  if (images.length === 0) return null;
  const { image } = replayCase(subject, failing);
  const base = new BaseVolume(subject, workload.base, 1);
  const { device } = base;
  const history = runWorkload(subject, device, workload, failing);
  const chosen = new CrashImages(device, { model });
  chosen.choose(images[0]);
  // Programs end behind what they had begun when the power was cut.
  const begun = history.events.filter(({ begin }) => begin <= chosen.lastCut);
  const processes = workload.processes.map((steps, process) =>
    steps.slice(0, begun.filter((event) => event.process === process).length),
  );
  device.latency = null;
  device.reset();
  const machine = new Machine(subject, device);
  machine.mount();
  machine.runAll(executeWorkload({ ...workload, processes }, machine.host, device).programs);
  const made = treeOf(machine);
  if (!isTree(made)) return null;
  const after = recover(subject, image);
  const found = after instanceof Machine ? treeOf(after) : null;
  return { made, found: found !== null && isTree(found) ? found : null };
}
