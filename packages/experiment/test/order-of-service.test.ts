import { expect, test } from 'vitest';
import { noExtensions, readDocument, runExperiment } from '../src/index.js';

/** Figures of the FTL of a full drive with little spare space: 24 blocks in a domain, of which 20.25 hold data. */
async function booksOf(changes: object): Promise<Readonly<Record<string, number>>> {
  const { spec } = readDocument(
    {
      device: { preset: 'mqsim-b8', capacity: '162MiB' },
      workload: { kind: 'random', requests: 20_000 },
      precondition: 'fill',
      warmup: '50%',
      ...changes,
    },
    noExtensions,
  );
  const { metrics } = await runExperiment(spec);
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith('ftl.')));
}

test('write amplification differs by the order of service alone, as by a block or two more in each domain', async () => {
  const blocks = (blocksPerPlane: number): object => ({ nand: { geometry: { blocksPerPlane } } });
  const timeline = await booksOf({ scheduler: 'timeline', ...blocks(24) });
  expect(await booksOf({ scheduler: { kind: 'event', policy: 'fifo', bus: 'reserve' } })).toEqual(timeline);
  const event = await booksOf({ scheduler: 'event' });
  expect(event['ftl.waf']).toBeLessThan(timeline['ftl.waf'] / 2);
  expect(event['ftl.waf']).toBeLessThan((await booksOf({ scheduler: 'timeline', ...blocks(25) }))['ftl.waf']);
  expect(event['ftl.waf']).toBeGreaterThan((await booksOf({ scheduler: 'timeline', ...blocks(26) }))['ftl.waf']);
});
