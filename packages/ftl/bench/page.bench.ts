import { rooflineShape } from './drive.js';
import { Roofline } from './roofline.js';
import { type FlashBenchmark, randomRow, sequentialRow, streamRow } from './writer.js';

const ROOFLINE = 'ftl: roofline, random write, flash operations';

function roofline(): FlashBenchmark {
  let loop: Roofline | null = null;
  return {
    name: ROOFLINE,
    n: 2_000_000,
    run: (n) => {
      if (loop === null) {
        loop = new Roofline(rooflineShape);
        loop.run(3 * rooflineShape.pages);
      }
      const target = loop.operations + n;
      while (loop.operations < target) loop.run(1000);
    },
    teardown: () => {
      loop = null;
    },
  };
}

/**
 * The map in RAM, in flash with 1 % of it cached, and every policy that separates data. In steady state: everything has been
 * overwritten once.
 */
export const benchmarks: readonly FlashBenchmark[] = [
  roofline(),
  { ...randomRow('page', 1), roofline: ROOFLINE },
  sequentialRow('page'),
  randomRow('dftl', 1),
  ...['none', 'host', 'hot-cold', 'dac', 'sepbit', 'fdp'].map(streamRow),
];
