import type { ReadaheadPolicy } from '@flashstack/pagecache-readahead';
import type { StrategyKind } from '@flashstack/sim';
import { type FileSystemScheme, MemFs } from '@flashstack/vfs';

/** Reads eight pages at every miss, whatever came before. */
class EightPages implements ReadaheadPolicy {
  miss(...[, pages, page]: Parameters<ReadaheadPolicy['miss']>): void {
    pages.fetch(page, Math.min(8, pages.pageCount - page), -1);
  }
  marker(): void {}
  force(): void {}
  positionAfter(end: number): number {
    return end;
  }
}

export const readaheads: readonly StrategyKind<ReadaheadPolicy>[] = [
  { name: 'eight-pages', summary: 'Eight pages at every miss.', parameters: [], create: () => new EightPages() },
];

/** The file system in memory with a limit of its own; one that keeps files on the drive uses what it is handed. */
export const fileSystems: readonly StrategyKind<FileSystemScheme>[] = [
  {
    name: 'short-names',
    summary: 'memfs with names of at most 32 bytes.',
    parameters: [],
    create: () => ({
      onDevice: false,
      *format() {},
      open: (_device, environment) => new MemFs(environment, { nameBytes: 32 }),
    }),
  },
];
