import type { PublishedFigure } from '../config.js';
import type { Provenance, ProvenanceClass, ProvenanceEntry } from '../provenance.js';

const CALIBRATED_BAND = 0.03;
const PREDICTED_BAND = 0.1;

type Metric = PublishedFigure['metric'];
type More = Partial<Pick<PublishedFigure, 'hostNs' | 'state' | 'miss' | 'tolerance'>>;

/** Size and number of the requests of a figure. */
export type Load = readonly [requestBytes: number, depth: number];

/** A figure that constants were fitted to: met within 3 %. */
export function calibrated(metric: Metric, value: number, load: Load, source: string): PublishedFigure {
  return {
    metric,
    value,
    requestBytes: load[0],
    depth: load[1],
    kind: 'calibrated',
    tolerance: CALIBRATED_BAND,
    source,
  };
}

/** A figure that was not used: met within 10 %, or a declared miss. */
export function predicted(metric: Metric, value: number, load: Load, source: string, more: More = {}): PublishedFigure {
  const [requestBytes, depth] = load;
  return { metric, value, requestBytes, depth, kind: 'predicted', tolerance: PREDICTED_BAND, source, ...more };
}

/** A figure that nobody has published: a bound, or what the drive is meant to do. */
export function target(metric: Metric, value: number, load: Load, tolerance: number, source: string): PublishedFigure {
  return { metric, value, requestBytes: load[0], depth: load[1], kind: 'target', tolerance, source };
}

const entryOf =
  (kind: ProvenanceClass) =>
  (source: string): ProvenanceEntry => ({ class: kind, source });

export const datasheet: (source: string) => ProvenanceEntry = entryOf('datasheet');
export const paper: (source: string) => ProvenanceEntry = entryOf('paper');
export const simulator: (source: string) => ProvenanceEntry = entryOf('simulator');
export const fitted: (source: string) => ProvenanceEntry = entryOf('calibrated');
export const chosen: (source: string) => ProvenanceEntry = entryOf('chosen');

/** Of `nand.timing` where a part gives no times of its own for commands. */
export const commandCycles: ProvenanceEntry = datasheet(
  'Open NAND Flash Interface: asynchronous command cycles of 20 ns, usual tDBSY, tCBSY and suspension times',
);

/** Of what no vendor tells, and of what is a property of the model. A preset that knows better says so after it. */
export const usual: Provenance = {
  blockBytes: datasheet('Sectors of the interface: 512 bytes'),
  'nand.features': chosen(
    'Defaults of the model: one program a page, codewords of 1 KiB, every second paired page is lost with a torn one',
  ),
  ftl: chosen('No vendor tells its mapping: what the literature takes as usual'),
  gatherNs: chosen('How long a partly filled program unit waits for more: a small part of a program'),
  idleNs: chosen('When background work may begin: no document'),
};
