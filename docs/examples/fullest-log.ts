import { Bast, hybridScheme, type MappingScheme } from '@flashstack/ftl';
import type { StrategyKind } from '@flashstack/sim';

/** A log block for each logical block, as in BAST; the one with the most valid slots makes room. */
class FullestLog extends Bast {
  protected override victim(domain: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    let fullest = -1;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] < 0) continue;
      if (fullest < 0 || logs.valid(log) > logs.valid(fullest)) fullest = log;
    }
    return fullest;
  }
}

export const mappings: readonly StrategyKind<MappingScheme>[] = [
  {
    name: 'fullest-log',
    summary: 'BAST that merges the log block with the most valid slots.',
    parameters: [],
    create: () =>
      hybridScheme({
        name: 'fullest-log',
        logBlocks: 0,
        leastLogBlocks: 1,
        idleMerge: false,
        sequentialBytes: 0,
        ownedByBlocks: true,
        make: (parts) => new FullestLog(parts, false),
      }),
  },
];
