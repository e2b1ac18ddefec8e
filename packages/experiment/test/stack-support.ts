import { miniJournalKind } from '@flashstack/mini-journal';
import {
  type ExperimentResult,
  type ExperimentSpec,
  type Extensions,
  noExtensions,
  runExperiment,
} from '../src/index.js';

const MIB = 2 ** 20;

/** With a file system that keeps its files on the drive. */
export const withMiniJournal: Extensions = {
  ...noExtensions,
  fileSystems: [...noExtensions.fileSystems, miniJournalKind],
};

/** One job on a small drive with an operating system. */
export function jobSpec(
  job: Readonly<Record<string, number | string | boolean>>,
  system: Partial<NonNullable<ExperimentSpec['system']>> = {},
): ExperimentSpec & { readonly system: NonNullable<ExperimentSpec['system']> } {
  return {
    device: { preset: 'mqsim-b8', capacityBytes: 128 * MIB, overProvisioning: 0.28 },
    system: { fileSystem: 'mini-journal', memory: 8 * MIB, ...system },
    workload: { kind: 'file-jobs', parameters: { bs: 4096, size: 4 * MIB, ...job } },
  };
}

/** Its result. */
export async function runStack(spec: ExperimentSpec): Promise<ExperimentResult> {
  return await runExperiment(spec, { extensions: withMiniJournal });
}
