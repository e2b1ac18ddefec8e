import type { ExperimentResult, WritePart } from '@flashstack/experiment';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { flowFigure } from '../src/figures/flow.js';
import { type Flow, flowOf } from '../src/flow/columns.js';
import { layoutOf } from '../src/flow/layout.js';
import { baseBytes, flowTable, isWide, placedBytes } from '../src/flow/table.js';
import { renderReport } from '../src/index.js';
import { Markup } from '../src/markup.js';
import { RunView } from '../src/view.js';
import { copyOf, run } from './runs.js';

const full = process.env.CI !== undefined;
const runs = { numRuns: full ? 3000 : 200 };
const MIB = 2 ** 20;

function part(layer: WritePart['layer'], cause: WritePart['cause'], origin: string | null, mib: number): WritePart {
  return { layer, cause, origin, bytes: mib * MIB };
}

/** A whole stack: the page cache keeps 100 of 400 MiB, the drive's buffer 64. */
const stack: readonly WritePart[] = [
  part('application', 'written', null, 400),
  part('pageCache', 'absorbed', null, -100),
  part('fileSystem', 'written', 'fileData', 300),
  part('fileSystem', 'written', 'inode', 2),
  part('fileSystem', 'written', 'journal', 128),
  part('fileSystem', 'written', 'superblock', 1),
  part('device', 'written', 'fileData', 300),
  part('device', 'written', 'inode', 2),
  part('device', 'written', 'journal', 128),
  part('device', 'written', 'superblock', 1),
  part('buffer', 'absorbed', 'journal', -64),
  part('buffer', 'filled', 'fileData', 20),
  part('flash', 'host', 'fileData', 320),
  part('flash', 'host', 'inode', 2),
  part('flash', 'host', 'journal', 64),
  part('flash', 'host', 'superblock', 1),
  part('flash', 'gc', 'fileData', 180),
  part('flash', 'gc', 'preconditioned', 40),
  part('flash', 'mapping', null, 25),
  part('flash', 'gc', 'translationPage', 3),
  part('flash', 'padding', null, 5),
  part('flash', 'pending', null, -8),
];

let result: ExperimentResult;

beforeAll(async () => {
  result = await run();
});

function withFlow(writeFlow: readonly WritePart[]): RunView {
  return new RunView({ ...result, writeFlow });
}

/** What leaves a bar and what enters it is no more than it holds, and each link has its bars. */
function checkFlow(flow: Flow): void {
  const { columns, links } = flow;
  for (const [at, { entries, bytes }] of columns.entries()) {
    expect(entries.filter(({ gone }) => !gone).reduce((sum, entry) => sum + entry.bytes, 0)).toBeCloseTo(bytes, 3);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
    for (const { key, bytes: size } of entries) {
      const out = links.filter(({ column, from }) => column === at && from === key);
      const into = links.filter(({ column, to }) => column === at - 1 && to === key);
      expect(out.reduce((sum, { fromBytes }) => sum + fromBytes, 0)).toBeLessThanOrEqual(size + 1e-6);
      expect(into.reduce((sum, { toBytes }) => sum + toBytes, 0)).toBeLessThanOrEqual(size + 1e-6);
    }
  }
  for (const { column, from, to } of links) {
    expect(columns[column].entries.some(({ key }) => key === from)).toBe(true);
    expect(columns[column + 1].entries.some(({ key }) => key === to)).toBe(true);
  }
}

/** The text of a cell. */
const textOf = (cell: unknown): string => (cell instanceof Markup ? cell.text : String(cell));
const cellsOf = (parts: readonly WritePart[]): string[][] =>
  flowTable(parts).rows.map((row) => ('group' in row ? [] : row.map(textOf)));

describe('the flow', () => {
  test('of a drive alone begins at it, and is as high as the counters say', () => {
    const flow = flowOf(result.writeFlow) as Flow;
    checkFlow(flow);
    expect(flow.columns.map(({ layer }) => layer)).toEqual(['device', 'flash']);
    expect(flow.columns[0].bytes).toBe(result.metrics['ssd.write.bytes']);
    const slots = result.analysis.programs.reduce((sum, one) => sum + one.slots, 0);
    expect(flow.columns[1].bytes).toBe(slots * result.spec.device.nand.geometry.slotBytes);
    expect(flow.columns[1].bytes).toBe(placedBytes(result.writeFlow));
  });

  test('of a whole stack: data with its copies, what is kept off, and what is small as one', () => {
    const flow = flowOf(stack) as Flow;
    checkFlow(flow);
    expect(flow.columns.map(({ bytes }) => bytes / MIB)).toEqual([400, 431, 431, 640]);
    expect(flow.columns.map(({ entries }) => entries.map(({ key, bytes }) => [key, bytes / MIB]))).toEqual([
      [['fileData', 400]],
      // Inodes, superblock, copies of translation pages and padding are below 1 % everywhere.
      [
        ['fileData', 300],
        ['journal', 128],
        ['other', 3],
        ['gone', 100],
      ],
      [
        ['fileData', 300],
        ['journal', 128],
        ['other', 3],
      ],
      [
        ['fileData', 320],
        ['gc fileData', 180],
        ['journal', 64],
        ['gc preconditioned', 40],
        ['translationPage', 25],
        ['other', 11],
        ['gone', 64],
      ],
    ]);
    const link = (column: number, from: string, to: string) =>
      flow.links.find((one) => one.column === column && one.from === from && one.to === to);
    expect(link(0, 'fileData', 'gone')).toMatchObject({ fromBytes: 100 * MIB, toBytes: 100 * MIB });
    expect(link(2, 'journal', 'gone')).toMatchObject({ fromBytes: 64 * MIB });
    expect(link(2, 'fileData', 'fileData')).toMatchObject({ fromBytes: 300 * MIB, toBytes: 320 * MIB });
    expect(link(2, 'other', 'other')).toMatchObject({ fromBytes: 3 * MIB, toBytes: 3 * MIB });
  });

  test('one small part alone keeps its name; nothing written is no flow', () => {
    const one = stack.filter(
      ({ origin, cause }) => !['superblock', 'translationPage'].includes(String(origin)) && cause !== 'padding',
    );
    const keys = (flowOf(one) as Flow).columns[1].entries.map(({ key }) => key);
    expect(keys).toContain('inode');
    expect(flowOf([])).toBeNull();
    expect(flowOf([part('flash', 'pending', null, -1)])).toBeNull();
  });

  const origins = ['unknown', 'fileData', 'inode', 'journal', 'checkpoint', 'cleaning', 'my own'];
  const amount = fc.oneof(fc.nat(3), fc.nat(1000), fc.nat(1e6));
  /** Parts whose books balance, of a host or of a drive alone. */
  const parts = fc
    .tuple(
      fc.boolean(),
      fc.array(fc.record({ device: amount, off: amount, filled: amount, gc: amount }), { minLength: 7, maxLength: 7 }),
    )
    .map(([host, rows]) => {
      const all: WritePart[] = [];
      const add = (
        layer: WritePart['layer'],
        cause: WritePart['cause'],
        origin: string | null,
        bytes: number,
      ): void => {
        if (bytes !== 0) all.push({ layer, cause, origin, bytes });
      };
      for (const [i, { device, off, filled, gc }] of rows.entries()) {
        const absorbed = Math.min(off, device);
        if (host) add('fileSystem', 'written', origins[i], device);
        add('device', 'written', origins[i], device);
        add('buffer', 'absorbed', origins[i], -absorbed);
        add('buffer', 'filled', origins[i], filled);
        add('flash', 'host', origins[i], device - absorbed + filled);
        add('flash', 'gc', origins[i], gc);
      }
      if (host) {
        add('application', 'written', null, rows[1].device + rows[0].gc);
        add('pageCache', 'absorbed', null, -rows[0].gc);
      }
      return all;
    });

  test('whatever is written, bars lie one below the other within the drawing, and ribbons within their bars', () => {
    fc.assert(
      fc.property(parts, (all) => {
        const flow = flowOf(all);
        if (flow === null) return;
        checkFlow(flow);
        const { bars, ribbons } = layoutOf(flow, 240);
        for (const [at, bar] of bars.entries()) {
          expect(bar.bottom).toBeLessThanOrEqual(240 + 1e-6);
          const above = bars[at - 1];
          if (above?.column === bar.column) expect(bar.top).toBeGreaterThan(above.bottom + 1);
        }
        for (const { link, from, to } of ribbons) {
          const start = bars.find(({ column, entry }) => column === link.column && entry.key === link.from);
          const end = bars.find(({ column, entry }) => column === link.column + 1 && entry.key === link.to);
          expect(from[0]).toBeGreaterThanOrEqual((start?.top ?? Number.NaN) - 1e-6);
          expect(from[1]).toBeLessThanOrEqual((start?.bottom ?? Number.NaN) + 1e-6);
          expect(to[0]).toBeGreaterThanOrEqual((end?.top ?? Number.NaN) - 1e-6);
          expect(to[1]).toBeLessThanOrEqual((end?.bottom ?? Number.NaN) + 1e-6);
        }
      }),
      runs,
    );
  });
});

describe('the table', () => {
  test('has a row for each origin, columns for what there is, and the sums', () => {
    const table = flowTable(stack);
    expect(table.head).toEqual([
      ...['in MiB', 'programs wrote', 'page cache', 'file system', 'drive', 'absorbed', 'filled up'],
      ...['new in flash', 'copies', 'flash', '×'],
    ]);
    expect(cellsOf(stack)).toEqual([
      ['file data', '400', '−100', '300', '300', '', '20.0', '320', '180', '500', '1.25'],
      ['inodes', '', '', '2.00', '2.00', '', '', '2.00', '', '2.00', '0.00500'],
      ['journal', '', '', '128', '128', '−64.0', '', '64.0', '', '64.0', '0.160'],
      ['superblock', '', '', '1.00', '1.00', '', '', '1.00', '', '1.00', '0.00250'],
      ['earlier data', '', '', '', '', '', '', '', '40.0', '40.0', '0.100'],
      ['translation pages', '', '', '', '', '', '', '25.0', '3.00', '28.0', '0.0700'],
      ['padding', '', '', '', '', '', '', '5.00', '', '5.00', '0.0125'],
      ['<b>all</b>', '400', '−100', '431', '431', '−64.0', '20.0', '417', '223', '640', '1.60'],
      ['waits for its program unit', '', '', '', '', '', '', '', '', '−8.00', ''],
      ['programmed', '', '', '', '', '', '', '', '', '632', ''],
    ]);
    expect(table.numeric).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(baseBytes(stack)).toBe(400 * MIB);
    expect([isWide(stack), isWide(result.writeFlow)]).toEqual([true, false]);
  });

  test('shows all of a run, as its write amplification', () => {
    const cells = cellsOf(result.writeFlow);
    expect(cells.map(([name]) => name)).toEqual(['host data', 'earlier data', '<b>all</b>']);
    const ratio = Number(cells[2][cells[2].length - 1]);
    expect(ratio).toBeCloseTo(new RunView(result).writeAmplification, 1);
  });
});

describe('the figure', () => {
  test.each([
    [[part('device', 'written', 'unknown', 4), part('flash', 'host', 'unknown', 4)], 'The drive wrote every byte once'],
    [
      [
        part('device', 'written', 'unknown', 4),
        part('buffer', 'absorbed', 'unknown', -1),
        part('flash', 'host', 'unknown', 3),
      ],
      'The drive kept 25\u00a0% of what it took off flash',
    ],
    [
      [part('device', 'written', 'unknown', 4), part('flash', 'host', 'unknown', 4), part('flash', 'gc', 'unknown', 6)],
      'One byte written to the drive cost 2.50 bytes of flash',
    ],
    [
      [part('application', 'written', null, 4), part('pageCache', 'absorbed', null, -4)],
      'Nothing of what was written reached flash',
    ],
    [
      [part('flash', 'gc', 'preconditioned', 2)],
      'The host wrote nothing; 2.00\u00a0MiB of flash was programmed all the same',
    ],
    [
      stack,
      'One byte that programs wrote cost 1.60 bytes of flash: ×\u00a01.08 on the way to the drive, ×\u00a01.48 in it',
    ],
  ] as const)('says what it found, %#', (parts, title) => {
    expect(flowFigure(withFlow(parts)).title).toBe(title);
  });

  test('of several runs has their names; of too many there is none', () => {
    const runs = [1, 2, 3, 4, 5, 6, 7].map((seed) => {
      const copy = copyOf(result);
      copy.spec.device.name = `drive ${seed}`;
      copy.spec.device.capacityBytes += seed;
      return copy as ExperimentResult;
    });
    const page = renderReport(runs.slice(0, 2));
    expect(page).toContain('Writes from layer to layer');
    for (const seed of [1, 2]) {
      expect(page).toMatch(
        new RegExp(
          `id="write-flow-${seed}"><figcaption><h3>[^<]*drive ${seed}[^<]*: one byte written to the drive cost`,
        ),
      );
    }
    expect(renderReport(runs)).not.toContain('write-flow');
  });

  test('of a result without the numbers is a sentence, and there is no table', () => {
    const { writeFlow: _, ...old } = copyOf(result);
    const page = renderReport([old as unknown as ExperimentResult]);
    expect(page).toContain('It was not recorded.');
    expect(page).not.toContain('Who caused the writes');
    expect(renderReport([result])).toContain('Who caused the writes');
    expect(
      flowFigure(new RunView({ ...result, writeFlow: [], analysis: { ...result.analysis, programs: [] } })).content,
    ).toEqual({ missing: 'Nothing was written.' });
  });

  test('names every bar of flash at its side, no two names over each other, in wide and narrow drawings', () => {
    const many = stack.concat(
      ...['directory', 'node', 'checkpoint', 'allocationMap', 'summary', 'cleaning', '<b>own</b>'].map((origin) => [
        part('fileSystem', 'written', origin, 9),
        part('device', 'written', origin, 9),
        part('flash', 'host', origin, 9),
        part('flash', 'gc', origin, 8),
      ]),
    );
    const names = (flowOf(many) as Flow).columns[3].entries.map(({ swatch }) => swatch.label);
    expect(names.length).toBeGreaterThan(18);
    const page = renderReport([{ ...result, writeFlow: many }]);
    const drawings = page.match(/id="write-flow".*?<\/figure>/s)?.[0].match(/<svg.*?<\/svg>/gs) ?? [];
    expect(drawings.length).toBe(2);
    for (const svg of drawings) {
      const texts = [...svg.matchAll(/<text transform="translate\(([\d.]+),([\d.]+)\)" y="0.3em">([^<]+)</g)];
      const right = Math.max(...texts.map(([, x]) => Number(x)));
      const labels = texts.filter(([, x]) => Number(x) === right);
      expect(labels.length).toBe(names.length);
      expect(labels.map(([, , , text]) => text).join()).toContain('&lt;b&gt;own');
      for (let at = 1; at < labels.length; at++)
        expect(Number(labels[at][2]) - Number(labels[at - 1][2])).toBeGreaterThan(14.8);
      // Heads neither, where they stand on one height.
      const heads = texts.filter(([, , , text]) => /^(programs|file system|drive|flash)$/.test(text));
      expect(heads.length).toBe(4);
      for (const [at, [, x, y]] of heads.entries()) {
        for (const [, otherX, otherY] of heads.slice(at + 1)) {
          if (y === otherY) expect(Number(otherX) - Number(x)).toBeGreaterThan(90);
        }
      }
    }
  });
});
