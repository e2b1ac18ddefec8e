import { claim, spread } from './claims.js';
import type { Study } from './study.js';
import { x25m } from './x25m.js';

const CAPACITY = 512 * 2 ** 20;
const PAGES = [4096, 8192, 16_384];
const WIDE = { channels: 8, ways: 2 };
const DEEP = { channels: 2, ways: 8 };

/** The larger the page, the less channels gain over ways (digest of the papers, 6.6, finding i). */
export const vsPage: Study = {
  id: 'VS-PAGE',
  title: 'channels against ways, by page size',
  paper: 'VSSIM (MSST 2013)',
  tightness: 'D',
  scale: 'drive 1:40 (512 MiB), blocks 1:4; 16 chips at all points',
  seeds: 5,
  cpuSeconds: 5,
  run: async (lab) => {
    const gains: number[][] = [];
    const rows: (string | number)[][] = [];
    for (const pageBytes of PAGES) {
      const of = async (structure: typeof WIDE): Promise<number[]> => {
        const { channels, ways } = structure;
        const results = await lab.overSeeds(`${channels} × ${ways}, pages of ${pageBytes / 1024} KiB`, {
          device: { config: x25m({ ...structure, pageBytes, capacityBytes: CAPACITY }) },
          workload: { kind: 'random', parameters: { requests: 8000, requestBytes: 32_768, readShare: 1 } },
          precondition: 'fill',
          loop: { kind: 'closed', depth: 1 },
        });
        return results.map(({ metrics }) => metrics['host.read.bytesPerSecond'] / 1e6);
      };
      const wide = await of(WIDE);
      const deep = await of(DEEP);
      gains.push(wide.map((value, i) => value / deep[i]));
      rows.push([`${pageBytes / 1024} KiB`, spread([wide]).values[0], spread([deep]).values[0]]);
    }
    return {
      claims: [
        claim({
          name: 'gain of 8 × 2 over 2 × 8 with pages of 16 KiB, over that with 4 KiB',
          unit: '×',
          published: 'below 1: shrinks with page size',
          band: [null, 0.95],
          values: gains[2].map((value, i) => value / gains[0][i]),
          basis: 'time',
        }),
        claim({
          name: 'the same with 8 KiB over 4 KiB',
          unit: '×',
          published: 'below 1: shrinks with page size',
          band: [null, 0.98],
          values: gains[1].map((value, i) => value / gains[0][i]),
          basis: 'time',
        }),
      ],
      figures: [
        {
          id: 'gain',
          title: 'The larger the page, the less channels gain over ways',
          caption: 'Bandwidth of 8 channels × 2 ways over that of 2 × 8: random reads of 32 KiB, one at a time.',
          kind: 'lines',
          x: { label: 'page, KiB', values: PAGES.map((bytes) => bytes / 1024), log: true },
          y: { label: '×' },
          series: [{ name: 'gain of channels', ...spread(gains) }],
        },
      ],
      tables: [{ title: 'Bandwidth, MB/s, mean of the seeds', head: ['page', '8 × 2', '2 × 8'], rows }],
      notes: [
        'A request of 32 KiB is eight pages of 4 KiB, but two of 16 KiB: more channels than pages cannot help it.',
      ],
    };
  },
};
