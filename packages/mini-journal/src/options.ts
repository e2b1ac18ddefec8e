import { InputError, unknownName } from '@flashstack/sim';

/** How a `MiniJournalFs` runs. */
export interface MiniJournalOptions {
  /** Between commits that nobody asks for, ns. Default 5 s. */
  readonly commitIntervalNs?: number;
  /** Blocks of the journal in use from which on each commit is followed by a checkpoint. Default: only when it must be. */
  readonly checkpointBlocks?: number;
}

const NAMES = ['commitIntervalNs', 'checkpointBlocks'];

/** All options. @throws InputError for an unknown one or a bad value. */
export function resolveOptions(options: MiniJournalOptions): Required<MiniJournalOptions> {
  for (const name of Object.keys(options)) if (!NAMES.includes(name)) throw unknownName('option', name, NAMES);
  const { commitIntervalNs = 5_000_000_000, checkpointBlocks = Number.MAX_SAFE_INTEGER } = options;
  for (const [key, value, unit] of [
    ['commitIntervalNs', commitIntervalNs, 'ns'],
    ['checkpointBlocks', checkpointBlocks, 'blocks'],
  ] as const) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new InputError('ERR_MINI_JOURNAL', `${key} is ${value}, expected an integer ≥ 1 ${unit}.`, key);
  }
  return { commitIntervalNs, checkpointBlocks };
}
