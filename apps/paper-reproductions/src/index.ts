import { amfMap, orcMap } from './mapping-tables.js';
import type { Study } from './study.js';
import { vsPage } from './vs-page.js';
import { vsRand } from './vs-rand.js';
import { vsWaf } from './vs-waf.js';

export { CancelledError, type Findings, Lab, type LabEnvironment, reproduce, type Study } from './study.js';

/** Every published experiment that can be run, in the order in which they are listed. */
export const studies: readonly Study[] = [vsPage, vsWaf, vsRand, orcMap, amfMap];
