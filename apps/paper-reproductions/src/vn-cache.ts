import {
  createEventScheduler,
  defaultCommandTiming,
  NandArray,
  NandClass,
  type NandClient,
} from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { claim } from './claims.js';
import type { Study } from './study.js';
import { vnsimDrive, vnsimPage } from './vnsim.js';

const PAGES = 256;
const { bytes, commandNs, registerNs, readNs, programNs } = vnsimPage;
const { tCbsyNs, tRcbsyNs } = defaultCommandTiming;

/** Time from one page to the next of a long run, ns (specification of the NAND device, section 3.1). */
const closedForm = {
  program: { off: commandNs + registerNs + programNs, on: Math.max(commandNs + registerNs, programNs) + tCbsyNs },
  read: { off: commandNs + readNs + registerNs, on: Math.max(readNs, registerNs) + tRcbsyNs },
};

type Kind = keyof typeof closedForm;

/** Remembers when it was last told that something is done. */
class Watch implements NandClient {
  lastNs = 0;
  firstNs = -1;
  private readonly simulator: Simulator;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  nandDone(): void {
    this.lastNs = this.simulator.now;
    if (this.firstNs < 0) this.firstNs = this.lastNs;
  }
}

/** Time per page of one block in order on one plane, ns. */
function perPage(kind: Kind, cacheRegister: boolean): number {
  const { nand } = vnsimDrive({ channels: 1, ways: 1, blocksPerPlane: 4, capacityBytes: bytes }, { cacheRegister });
  const simulator = new Simulator();
  const array = new NandArray(nand, { keeps: 'nothing', random: new RandomSource(1) });
  const scheduler = createEventScheduler(array, simulator, { policy: 'outOfOrder', bus: 'arbitrate' });
  const programs = new Watch(simulator);
  for (let page = 0; page < PAGES; page++) {
    scheduler.then(scheduler.program(page, NandClass.userWrite, 0), programs, page);
  }
  simulator.drain();
  if (kind === 'program') return (programs.lastNs - programs.firstNs) / (PAGES - 1);
  const reads = new Watch(simulator);
  const pages = Int32Array.from({ length: PAGES }, (_, page) => page);
  const tokens = new Int32Array(PAGES);
  if (cacheRegister) scheduler.readCache(pages, PAGES, NandClass.userRead, 0, tokens);
  else for (const page of pages) tokens[page] = scheduler.read(page, 2 ** (bytes / 4096) - 1, NandClass.userRead, 0);
  for (const token of tokens) scheduler.then(token, reads, 0);
  simulator.drain();
  return (reads.lastNs - reads.firstNs) / (PAGES - 1);
}

const rate = (ns: number): number => (bytes * 1e3) / ns;

/** What the page cache register gains, against its closed form (digest of the papers, 7.3). */
export const vnCache: Study = {
  id: 'VN-CACHE',
  title: 'page cache register off and on',
  paper: 'VNSIM (KIISE 2018)',
  tightness: 'T',
  scale: 'one plane, a block of 256 pages',
  seeds: 1,
  cpuSeconds: 0,
  run: async () => {
    const kinds: readonly Kind[] = ['program', 'read'];
    const found = kinds.map((kind) => ({ kind, off: rate(perPage(kind, false)), on: rate(perPage(kind, true)) }));
    return {
      claims: found.flatMap(({ kind, off, on }) =>
        (['off', 'on'] as const).map((state) => {
          const expected = rate(closedForm[kind][state]);
          return claim({
            name: `sequential ${kind}, register ${state}, closed form`,
            unit: 'MB/s',
            published: expected,
            band: [expected * 0.98, expected * 1.02],
            values: [state === 'off' ? off : on],
            basis: 'time',
          });
        }),
      ),
      figures: [
        {
          id: 'bandwidth',
          title: 'The register lets transfers overlap with array time',
          caption: "Bandwidth of one plane, pages of 16 KiB, VNSIM's delays.",
          kind: 'bars',
          x: { label: 'operation', values: kinds },
          y: { label: 'MB/s' },
          series: [
            { name: 'register off', values: found.map(({ off }) => off) },
            { name: 'register on', values: found.map(({ on }) => on) },
          ],
        },
      ],
      notes: [
        'Programming waits for the array, so the register gains the transfer only; reads gain the shorter of array and transfer time.',
      ],
    };
  },
};
