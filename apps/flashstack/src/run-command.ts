import { type LoadedSpec, loadSpec, readSpec, type SpecChanges } from '@flashstack/experiment/node';
import { presets } from '@flashstack/ssd';
import { traceName } from '@flashstack/workloads';
import { type ExperimentFlags, runExperimentCommand } from './experiment-command.js';
import { knownNames } from './known-names.js';
import { changesOf, parseSelection, parseSettings, specFlags, traceFlags } from './option-flags.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';

/** Flags that set keys of a spec, besides those of the tables. */
export interface SpecFlags extends Readonly<Record<string, unknown>> {
  readonly set?: readonly string[];
  readonly module?: readonly string[];
  readonly select?: readonly string[];
  readonly device?: string;
}

/** `flashstack run SPEC`: an experiment as its file says, with single values changed by flags. */
export async function runRun(file: string, flags: ExperimentFlags & SpecFlags, session: Session): Promise<number> {
  const changes = { ...changesOf(specFlags, flags), ...parseSettings('--set', flags.set ?? []) };
  return await runExperimentCommand(
    () => loadSpec(file, changes, knownNames),
    ({ name }) => name,
    flags,
    session,
  );
}

/** `flashstack replay TRACE`: a trace on a drive, without a spec. */
export async function runReplay(file: string, flags: ExperimentFlags & SpecFlags, session: Session): Promise<number> {
  const { device } = flags;
  if (device === undefined) {
    const names = presets.map((known) => known.name).join(', ');
    throw new UsageError('--device is missing: which drive is to be simulated?', [`There are ${names}.`]);
  }
  const changes: SpecChanges = {
    ...changesOf(traceFlags, flags),
    ...(flags.select === undefined ? {} : { 'workload.volumes': parseSelection(flags.select) }),
    ...changesOf(specFlags, flags),
    ...(flags.module === undefined ? {} : { modules: flags.module }),
    ...parseSettings('--set', flags.set ?? []),
  };
  if (changes.loop === undefined || /^closed/.test(String(changes.loop))) forbidTimes(flags);
  const document = { device: { preset: device }, workload: { trace: file } };
  const load = (): Promise<LoadedSpec> =>
    readSpec(document, { name: traceName(file), folder: '.', changes, base: knownNames });
  return await runExperimentCommand(load, () => traceName(file), flags, session);
}

function forbidTimes(flags: SpecFlags): void {
  for (const [flag, name] of [
    ['--time-scale', 'timeScale'],
    ['--max-in-flight', 'maxInFlight'],
  ] as const) {
    if (flags[name] === undefined) continue;
    throw new UsageError(`${flag} has no meaning with a closed loop, which ignores recorded times.`, [
      'Add --loop open or --loop think, or leave it out.',
    ]);
  }
}
