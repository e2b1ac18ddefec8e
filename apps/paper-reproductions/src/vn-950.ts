import { measureFigure } from '@flashstack/experiment';
import { lookupStrategy } from '@flashstack/sim';
import { type PublishedFigure, presets } from '@flashstack/ssd';
import { claim } from './claims.js';
import type { Study } from './study.js';

const PRESET = 'samsung-950-pro-256';

const names: Readonly<Record<PublishedFigure['metric'], string>> = {
  sequentialRead: 'sequential read',
  sequentialWrite: 'sequential write',
  randomRead: 'random read',
  randomWrite: 'random write',
};

/** A Samsung 950 Pro against its rated values (digest of the papers, 7.5). */
export const vn950: Study = {
  id: 'VN-950',
  title: 'Samsung 950 Pro, calibrated',
  paper: 'VNSIM (KIISE 2018)',
  tightness: 'B',
  scale: 'full parallelism; capacity scaled to 2 GiB, which the figures do not depend on',
  seeds: 1,
  cpuSeconds: 4,
  run: async () => {
    const preset = lookupStrategy(presets, PRESET, 'device preset');
    const rows = preset.figures.map((figure) => {
      const { metric, depth, value, requestBytes, kind, miss } = figure;
      const unit = metric.startsWith('sequential') ? 'MB/s' : 'k/s';
      const scale = unit === 'MB/s' ? 1e6 : 1e3;
      const found = measureFigure(preset, figure) / scale;
      const published = value / scale;
      const name = `${names[metric]}, ${requestBytes / 1024} KiB, ${depth} in flight`;
      return {
        name,
        error: 100 * (found / published - 1),
        claim: claim({
          name: `${name}${kind === 'calibrated' ? ' (calibrated)' : ''}`,
          unit,
          published,
          band: [published * 0.9, published * 1.1],
          values: [found],
          basis: 'time',
          ...(miss === undefined ? {} : { expectedMiss: miss }),
        }),
      };
    });
    return {
      claims: rows.map((row) => row.claim),
      figures: [
        {
          id: 'error',
          title: 'How far the preset is from the rated values',
          caption: 'Deviation of the simulated from the published value. VNSIM reports 6.2 to 8.9 %.',
          kind: 'bars',
          x: { label: 'workload', values: rows.map(({ name }) => name) },
          y: { label: '% off' },
          series: [{ name: 'deviation', values: rows.map(({ error }) => Math.abs(error)) }],
        },
      ],
      notes: [
        'The four figures at depth served to calibrate the preset: that they fit proves nothing. Those with one request in flight are predictions, measured with the host software that the published ones contain.',
      ],
    };
  },
};
