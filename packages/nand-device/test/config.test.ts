import { describe, expect, it } from 'vitest';
import {
  checkNandConfig,
  createEventScheduler,
  defaultReliability,
  type NandConfig,
  transferNs,
} from '../src/index.js';
import { arrayOf, type Changes, Simulator, vectorConfig } from './support.js';

/** Messages must name the key, what was found and what was expected. */
const mistakes: [string, Changes | ((config: NandConfig) => unknown), RegExp][] = [
  [
    'no channels',
    { geometry: { channels: 0 } },
    /nand\.geometry\.channels: expected an integer from 1 to 1024, found 0/,
  ],
  [
    'half a plane',
    { geometry: { planes: 1.5 } },
    /nand\.geometry\.planes: expected an integer from 1 to 8, found 1\.5/,
  ],
  [
    'slots that do not divide a page',
    { geometry: { slotBytes: 1000 } },
    /slotBytes: must divide pageBytes \(4096\), found 1000/,
  ],
  ['too many slots', { geometry: { pageBytes: 65_536, slotBytes: 512 } }, /128 slots per page; at most 30/],
  ['shifted SLC', { geometry: { pairing: 'shifted' } }, /shifted needs cellBits 2/],
  [
    'planar TLC of MLC',
    { geometry: { cellBits: 2, pairing: 'tlc' }, timing: { readNs: [1, 2], programNs: [1, 2] } },
    /tlc needs cellBits 3/,
  ],
  [
    'an unknown pairing',
    { geometry: { pairing: 'odd' as never } },
    /pairing: expected one of simple, shifted, tlc, found "odd"/,
  ],
  ['a short page table', { geometry: { pairing: { pageType: [0] } } }, /pageType: expected an array of 16 page types/],
  [
    'a device beyond its addresses',
    { geometry: { channels: 1024, ways: 1024, blocksPerPlane: 4096 } },
    /pages; at most 2147483647/,
  ],
  ['a missing page type time', { geometry: { cellBits: 2 } }, /readNs: expected an array of 2 times/],
  ['a negative time', { timing: { eraseNs: -1 } }, /eraseNs: expected an integer from 0/],
  ['no bus', { timing: { channelBytesPerSec: 0 } }, /channelBytesPerSec: expected a number from 1/],
  ['a number for a flag', { features: { copyback: 1 as never } }, /copyback: expected true or false, found 1/],
  [
    'an unknown suspension',
    { features: { suspend: 'read' as never } },
    /suspend: expected one of none, erase, program\+erase/,
  ],
  [
    'one-shot copyback',
    { geometry: { programUnit: 'wordline' }, features: { copyback: true } },
    /word-line programming allows neither/,
  ],
  [
    'an unknown key',
    (c) => ({ ...c, geometry: { ...c.geometry, chanels: 1 } }),
    /geometry\.chanels: unknown key; .*channels/,
  ],
  ['a missing section', (c) => ({ ...c, timing: undefined }), /nand\.timing: expected an object, found nothing/],
  [
    'failure shares in disorder',
    (c) => ({ ...c, reliability: { ...defaultReliability(1), eraseFailTo: 0.5 } }),
    /must be above eraseFailFrom \(0\.7\), found 0\.5/,
  ],
];

describe('checkNandConfig', () => {
  it.each(mistakes)('refuses %s', (_name, change, message) => {
    const config = typeof change === 'function' ? change(vectorConfig()) : vectorConfig(change);
    expect(() => {
      checkNandConfig(config as NandConfig);
    }).toThrowError(message);
    expect(() => {
      checkNandConfig(config as NandConfig);
    }).toThrowError(expect.objectContaining({ code: 'ERR_NAND_CONFIG' }));
  });

  it('lists everything that is wrong', () => {
    const config = vectorConfig({ geometry: { channels: 0, ways: 0 }, timing: { eraseNs: -1 } });
    expect(() => {
      checkNandConfig(config);
    }).toThrowError(/channels.*ways.*eraseNs/);
  });

  it('accepts the defaults for every cell type', () => {
    for (const cellBits of [1, 2, 3, 4]) {
      const times = [1, 2, 3, 4].slice(0, cellBits);
      const config = vectorConfig({
        geometry: { cellBits },
        timing: { readNs: times, programNs: times },
        reliability: defaultReliability(cellBits),
      });
      expect(() => {
        checkNandConfig(config);
      }).not.toThrow();
    }
  });
});

describe('createEventScheduler', () => {
  const make =
    (options: object, changes: Changes = {}) =>
    () =>
      createEventScheduler(arrayOf(vectorConfig(changes)), new Simulator(), options);

  it('refuses options it does not know', () => {
    expect(make({ policy: 'lifo' })).toThrowError(
      /policy: expected one of fifo, readFirst, outOfOrder, priority, found "lifo"/,
    );
    expect(make({ bus: 'token' })).toThrowError(/bus: expected arbitrate or reserve, found "token"/);
    expect(make({ policy: 'priority', weights: [1, 2] })).toThrowError(/weights: expected 7 positive integers/);
    const polled: Changes = { features: { suspend: 'erase' }, timing: { statusNs: 100 } };
    expect(make({ bus: 'reserve' }, polled)).toThrowError(expect.objectContaining({ code: 'ERR_NAND_SUSPEND_POLL' }));
  });
});

it('transfers are rounded up to whole nanoseconds, and exact where they are whole', () => {
  expect(transferNs(4096, 400e6)).toBe(10_240);
  expect(transferNs(4096, 333e6)).toBe(12_301);
  expect(transferNs(1, 1e9)).toBe(1);
  expect(transferNs(16_384, 1_600e6)).toBe(10_240);
});
