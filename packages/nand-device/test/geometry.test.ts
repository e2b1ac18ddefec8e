import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Geometry, NandArray, type NandGeometry, PADDING_LPN } from '../src/index.js';
import { arrayOf, RandomSource, vectorConfig } from './support.js';

function geometry(changes: Partial<NandGeometry>): Geometry {
  return new Geometry(vectorConfig({ geometry: changes }).geometry);
}

describe('addresses', () => {
  it('are a bijection for any sizes, powers of two or not', () => {
    fc.assert(
      fc.property(
        fc.record({
          channels: fc.integer({ min: 1, max: 9 }),
          ways: fc.integer({ min: 1, max: 5 }),
          dies: fc.integer({ min: 1, max: 3 }),
          planes: fc.integer({ min: 1, max: 4 }),
          blocksPerPlane: fc.integer({ min: 1, max: 1100 }),
          pagesPerBlock: fc.constantFrom(64, 128, 256, 768, 1152, 77),
          slotBytes: fc.constantFrom(512, 1024, 2048, 4096),
        }),
        fc.array(fc.nat({ max: 2 ** 31 - 1 }), { minLength: 20, maxLength: 20 }),
        (changes, draws) => {
          const g = geometry(changes);
          for (const draw of draws) {
            const ppn = draw % g.pages;
            const at = g.locate(ppn);
            const unit = g.unit(at.channel, at.way, at.die, at.plane);
            expect(g.ppn(unit * g.blocksPerPlane + at.block, at.page)).toBe(ppn);
            const block = g.blockOf(ppn);
            expect([g.unitOfBlock(block), g.pageOf(ppn), g.channelOf(ppn)]).toEqual([unit, at.page, at.channel]);
            expect(g.dieOf(ppn) * changes.planes + at.plane).toBe(unit);
            const slot = draw % g.slotsPerPage;
            const psn = g.psn(ppn, slot);
            expect([g.ppnOfPsn(psn), g.slotOfPsn(psn)]).toEqual([ppn, slot]);
          }
        },
      ),
      { seed: 1 },
    );
  });

  it('reach to 2^31 − 1 pages and 2^32 − 2 slots without wrapping', () => {
    const g = geometry({
      channels: 16,
      ways: 8,
      planes: 4,
      blocksPerPlane: 4096,
      pagesPerBlock: 768,
      pageBytes: 8192,
      slotBytes: 4096,
    });
    expect(g.slots).toBeGreaterThan(2 ** 31);
    const last = g.pages - 1;
    expect(g.locate(last)).toEqual({ channel: 15, way: 7, die: 0, plane: 3, block: 4095, page: 767 });
    expect(g.ppnOfPsn(g.slots - 1)).toBe(last);
    expect(g.slotOfPsn(g.slots - 1)).toBe(1);
  });
});

describe('page types', () => {
  const lsb = (types: Uint8Array) => [...types.keys()].filter((page) => types[page] === 0);

  it('simple MLC: even pages LSB', () => {
    const g = geometry({ cellBits: 2, pagesPerBlock: 8 });
    expect([...g.pageType]).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
    expect([...g.wordLine]).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it.each([12, 64, 128, 256])('shifted MLC of %i pages pairs as published', (pages) => {
    const g = geometry({ cellBits: 2, pairing: 'shifted', pagesPerBlock: pages });
    const pairs: [number, number][] = [
      [0, 4],
      [1, 5],
    ];
    for (let k = 0; k <= (pages - 12) / 4; k++) pairs.push([2 + 4 * k, 8 + 4 * k], [3 + 4 * k, 9 + 4 * k]);
    pairs.push([pages - 6, pages - 2], [pages - 5, pages - 1]);
    expect(pairs.flat().sort((a, b) => a - b)).toEqual([...Array(pages).keys()]);
    for (const [low, high] of pairs) {
      expect([g.pageType[low], g.pageType[high]]).toEqual([0, 1]);
      expect(g.wordLine[low]).toBe(g.wordLine[high]);
    }
  });

  it('planar TLC follows the published table', () => {
    const g = geometry({ cellBits: 3, pairing: 'tlc', pagesPerBlock: 26 });
    expect([...g.pageType]).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
    expect(lsb(g.pageType).map((page) => g.wordLine[page])).toEqual([...Array(12).keys()]);
  });

  it("takes a table of the user's own", () => {
    const g = geometry({ cellBits: 2, pagesPerBlock: 4, pairing: { pageType: [0, 0, 1, 1], wordLine: [7, 8, 8, 7] } });
    expect([...g.pageType]).toEqual([0, 0, 1, 1]);
    expect([...g.wordLine]).toEqual([7, 8, 8, 7]);
  });

  it('one-shot programming takes a word line at a time', () => {
    const array = arrayOf(
      vectorConfig({
        geometry: { cellBits: 3, pagesPerBlock: 12, programUnit: 'wordline' },
        timing: { readNs: [50_000, 60_000, 70_000], programNs: [700_000] },
      }),
    );
    array.program(0);
    expect(array.nextPage[0]).toBe(3);
    expect(() => array.program(1)).toThrowError(expect.objectContaining({ rule: 'page-programmed' }));
    array.program(3);
    expect(array.nextPage[0]).toBe(6);
  });
});

describe('memory', () => {
  it('keeps five bytes per slot when contents are not kept', () => {
    const config = vectorConfig({ geometry: { blocksPerPlane: 512, pagesPerBlock: 256 } });
    const all = arrayOf(config);
    const bytes = (array: object, length: number) =>
      Object.values(array).reduce(
        (sum, column) =>
          ArrayBuffer.isView(column) && 'length' in column && column.length === length ? sum + column.byteLength : sum,
        0,
      );
    expect(bytes(all, all.geometry.slots)).toBe(all.geometry.slots * (4 + 1 + 8 + 4 + 1 + 1));
    const frugal = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
    expect(bytes(frugal, frugal.geometry.slots)).toBe(frugal.geometry.slots * 5);
    expect(PADDING_LPN).toBe(2 ** 32 - 1);
  });
});
