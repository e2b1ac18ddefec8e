import { MemoryDevice } from '@flashstack/block-device';
import { FileAdvice, type Inode, MemoryAdvice, PAGE_BYTES } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { type FileReader, Linux6Readahead, Linux2637Readahead, type ReadaheadPolicy } from '../src/index.js';
import { fixture, type Pattern, type Run, runsOf, type Step } from './patterns.js';
import { Stack } from './support.js';

// The page cache with a device that answers at once fetches what the policies alone do: what was recorded.
const patterns = fixture<readonly Pattern[]>('readahead-linux-6.18.json.gz');

class CachePlayer {
  readonly stack: Stack;
  private readonly inode: Inode;
  private readonly readers: FileReader[];
  private readonly mapped: FileReader;
  private advice: number = MemoryAdvice.normal;

  constructor(pattern: Pattern, policy: ReadaheadPolicy, ioPages: number) {
    const limits = { raPages: pattern.readAheadKb / 4, ioPages };
    const features = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'nothing' } as const;
    this.stack = new Stack({
      cache: { policy, limits },
      filePages: pattern.filePages,
      device: () => new MemoryDevice({ blockCount: pattern.filePages, features }),
    });
    this.inode = this.stack.file(pattern.filePages * PAGE_BYTES);
    const { cache } = this.stack;
    this.readers = [cache.reader(this.inode), cache.reader(this.inode)];
    this.mapped = cache.reader(this.inode);
  }

  cached(): Set<number> {
    const mapping = this.stack.cache.mapping(this.inode);
    const pages = new Set<number>();
    for (let page = 0; page < mapping.pageCount; page++) if (mapping.isCached(page)) pages.add(page);
    return pages;
  }

  play(text: string): void {
    const { stack, inode, readers } = this;
    const { cache } = stack;
    const second = text.startsWith('2:');
    const [what, ...rest] = (second ? text.slice(2) : text).split(' ');
    const reader = readers[second ? 1 : 0];
    const numbers = rest.map(Number);
    if (what === 'open') readers[0] = cache.reader(inode);
    else if (what === 'open2') readers[1] = cache.reader(inode);
    else if (what === 'read') stack.finish(cache.read(inode, reader, numbers[0], numbers[1], null));
    else if (what === 'ra') stack.finish(cache.advise(inode, reader, numbers[0], numbers[1], FileAdvice.willNeed));
    else if (what === 'touch') stack.finish(cache.touch(inode, this.mapped, numbers[0], this.advice));
    else if (what === 'madv') this.advice = MemoryAdvice[rest[0] as keyof typeof MemoryAdvice];
    else if (what === 'fadv') {
      const kinds = { normal: 0, random: 1, sequential: 2, willneed: 3, dontneed: 4 };
      stack.finish(cache.advise(inode, reader, numbers[1], numbers[2], kinds[rest[0] as keyof typeof kinds]));
    } else throw new Error(`unknown step ${what}`);
  }
}

test.each(patterns)('the cache does what Linux 6.18 did: $name', (pattern) => {
  const player = new CachePlayer(pattern, new Linux6Readahead(), pattern.maxSectorsKb / 4);
  const { steps } = pattern.runs.order0;
  let before = player.cached();
  const played = steps.map(([text]): Step => {
    player.play(text);
    const after = player.cached();
    const came = runsOf([...after].filter((page) => !before.has(page)));
    const went = runsOf([...before].filter((page) => !after.has(page)));
    before = after;
    return went.length > 0 ? [text, came, went] : [text, came];
  });
  expect(played).toEqual(steps);
});

const legacy = fixture<{ readonly patterns: Readonly<Record<string, { reads: readonly [number, readonly Run[]][] }>> }>(
  'readahead-linux-2.6.37.json.gz',
).patterns;

test.each(Object.entries(legacy))('the cache sends the requests of 2.6.37: %s', (name, expected) => {
  const pattern = patterns.find((candidate) => candidate.name === name) as Pattern;
  const player = new CachePlayer(pattern, new Linux2637Readahead(), 320);
  const { reads } = player.stack.backend;
  const requests = pattern.runs.order0.steps.map(([text], at) => {
    const from = reads.length;
    player.play(text);
    return [at, reads.slice(from)] as const;
  });
  expect(requests.filter(([, runs]) => runs.length > 0)).toEqual(expected.reads);
});
