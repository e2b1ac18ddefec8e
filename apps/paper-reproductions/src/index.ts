import { amfMap, orcMap } from './mapping-tables.js';
import { raGap, raRand, raSeq, raSize } from './readahead.js';
import recordedStates from './recorded.json' with { type: 'json' };
import { schemeComparison } from './schemes.js';
import type { Study } from './study.js';
import { vn950 } from './vn-950.js';
import { vnCache } from './vn-cache.js';
import { vnCores } from './vn-cores.js';
import { vsHybrid } from './vs-hybrid.js';
import { vsPage } from './vs-page.js';
import { vsRand } from './vs-rand.js';
import { vsWaf } from './vs-waf.js';
import { vsX25m } from './vs-x25m.js';

export { CancelledError, type Findings, Lab, type LabEnvironment, reproduce, type Study } from './study.js';

/** What a study came to when it was recorded: verdicts by kind, and the digest of all values. */
export interface RecordedState {
  readonly verdicts: {
    readonly pass?: number;
    readonly miss?: number;
    readonly expectedMiss?: number;
    readonly shown?: number;
  };
  readonly sha256: string;
}

/** By id, with the seeds of each study. */
export const recorded: Readonly<Record<string, RecordedState>> = recordedStates;

/** Every published experiment that can be run, in the order in which they are listed. */
export const studies: readonly Study[] = [
  vsX25m,
  vsPage,
  vsHybrid,
  vsWaf,
  vsRand,
  vn950,
  vnCores,
  vnCache,
  orcMap,
  amfMap,
  raSeq,
  raRand,
  raSize,
  raGap,
  schemeComparison,
];
