import type { ExperimentSpec } from '@flashstack/experiment';
import { defaultVssimDelays } from '@flashstack/nand-device';
import { lookupStrategy } from '@flashstack/sim';
import { freeFirmware, presets, type SsdConfig } from '@flashstack/ssd';
import { claim } from './claims.js';
import type { Lab, Study } from './study.js';

const PAGE = 4096;
const CHIPS = 20;
const CELL_WRITE_NS = 940_000;
const { switchReadNs, switchWriteNs, registerWriteNs } = defaultVssimDelays;

/** What VSSIM's model allows: reads a page per switch delay, writes a page per chip and register, cell and switch time. */
const readBound = (PAGE * 1e3) / switchReadNs;
const writeBound = (CHIPS * PAGE * 1e3) / (registerWriteNs + CELL_WRITE_NS + switchWriteNs);

/** VSSIM's X25-M in VSSIM's own timing: nothing else takes time. */
function drive(): SsdConfig {
  const preset = lookupStrategy(presets, 'intel-x25m-vssim', 'device preset');
  return {
    ...preset,
    link: null,
    firmware: freeFirmware,
    scheduler: { ...preset.scheduler, kind: 'vssim', vssim: defaultVssimDelays },
  };
}

async function bandwidth(lab: Lab, readShare: 0 | 1): Promise<number> {
  const spec: ExperimentSpec = {
    device: { config: drive() },
    workload: { kind: 'sequential', parameters: { requests: 4096, requestBytes: 131_072, readShare } },
    precondition: readShare === 1 ? 'fill' : 'none',
    loop: { kind: 'closed', depth: 32 },
    warmup: { requests: 1024 },
  };
  const what = readShare === 1 ? 'read' : 'write';
  const { metrics } = await lab.run(`sequential ${what}`, { ...spec, seed: lab.seeds[0] });
  return metrics[`host.${what}.bytesPerSecond`] / 1e6;
}

/** Sequential bandwidth against VSSIM's own model and the rating of the drive (digest of the papers, chapter 6). */
export const vsX25m: Study = {
  id: 'VS-X25M',
  title: 'sequential read and write',
  paper: 'VSSIM (MSST 2013)',
  tightness: 'T',
  scale: "full size of VSSIM's drive (20 GiB, a quarter of the real one)",
  seeds: 1,
  cpuSeconds: 4,
  run: async (lab) => {
    const read = await bandwidth(lab, 1);
    const write = await bandwidth(lab, 0);
    const common = { unit: 'MB/s', basis: 'time' } as const;
    return {
      claims: [
        claim({
          ...common,
          name: "sequential read, VSSIM's own model",
          published: readBound,
          band: [readBound * 0.98, readBound * 1.02],
          values: [read],
        }),
        claim({
          ...common,
          name: "sequential write, VSSIM's own model",
          published: '78 … 80',
          band: [76.4, 81.6],
          values: [write],
        }),
        claim({
          ...common,
          name: 'sequential read, rating of the drive',
          published: 250,
          band: [212.5, 287.5],
          values: [read],
        }),
        claim({
          ...common,
          name: 'sequential write, rating of the drive',
          published: 70,
          band: [59.5, 80.5],
          values: [write],
        }),
      ],
      figures: [
        {
          id: 'bandwidth',
          title: "VSSIM's delays give the bandwidth of the drive",
          caption: 'Sequential, 128 KiB, 32 in flight, in the timing mode of VSSIM.',
          kind: 'bars',
          x: { label: 'workload', values: ['read', 'write'] },
          y: { label: 'MB/s' },
          series: [
            { name: 'simulated', values: [read, write] },
            { name: 'rated', values: [250, 70], published: true },
            { name: 'closed form of the model', values: [readBound, writeBound] },
          ],
        },
      ],
      notes: ['The switch delays were fitted by the authors of VSSIM to these two ratings.'],
    };
  },
};
