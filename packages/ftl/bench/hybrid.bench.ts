import { type FlashBenchmark, randomRow, sequentialRow } from './writer.js';

export const benchmarks: readonly FlashBenchmark[] = ['block', 'bast', 'sast', 'fast', 'last'].flatMap((scheme) => [
  randomRow(scheme),
  sequentialRow(scheme),
]);
