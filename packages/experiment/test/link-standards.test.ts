import { linkConfig, linkOf } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import { hashSpec, noExtensions, readDocument, resolveDevice, type SpecError } from '../src/index.js';

const base = { device: 'sata-840-pro-class', workload: 'random' };

/** The link of a drive whose spec says this of it. */
function linkAs(link: unknown, device: unknown = base.device) {
  const { spec } = readDocument({ ...base, device, link }, noExtensions);
  return resolveDevice(spec).link;
}

function refusal(link: unknown): SpecError {
  try {
    linkAs(link);
  } catch (error) {
    return error as SpecError;
  }
  throw new Error('the link was accepted');
}

describe('a link by its standard', () => {
  const { chunkBytes } = resolveDevice({ device: base.device }).link as NonNullable<ReturnType<typeof linkAs>>;

  test('by a name or by its parts; requests stay cut as before', () => {
    const expected = linkConfig(linkOf('pcie3x2'), chunkBytes);
    expect(linkAs('pcie3x2')).toEqual(expected);
    expect(linkAs({ standard: 'pcie3', lanes: 2 })).toEqual(expected);
    expect(linkAs({ standard: 'sata2' })).toEqual(linkConfig({ standard: 'sata2' }, chunkBytes));
  });

  test('other keys come on top, wherever they stand', () => {
    const expected = { ...linkConfig(linkOf('pcie4x4'), 8192), commandNs: 5 };
    expect(linkAs({ commandNs: 5, chunkBytes: '8KiB', standard: 'pcie4' })).toEqual(expected);
    expect(linkAs({ standard: 'pcie4', lanes: 4, chunkBytes: 8192, commandNs: '5ns' })).toEqual(expected);
  });

  test('of a drive that has none', () => {
    expect(linkAs('sata1', 'slc-nand-256m')).toMatchObject({ readBytesPerSec: 138_750_000, chunkBytes: 16_384 });
  });

  test('hashes as the rates that it means', () => {
    const hash = (link: unknown): string => hashSpec(readDocument({ ...base, link }, noExtensions).spec).specHash;
    expect(hash('pcie3x4')).toBe(hash({ ...linkConfig(linkOf('pcie3x4'), chunkBytes) }));
    expect(hash('pcie3x4')).not.toBe(hash('pcie3x2'));
  });

  test.each<[unknown, string, string]>([
    ['pcie3x5', 'unknown link "pcie3x5"', 'link'],
    [{ standard: 'sata9' }, 'link.standard is "sata9", expected one of pcie1', 'link.standard'],
    [{ lanes: 4 }, 'link.lanes has no meaning without link.standard', 'link.lanes'],
    [{ standard: 'pcie3', lanes: 3 }, 'link.lanes: found 3, expected one of 1, 2, 4, 8, 16', 'link.lanes'],
    [{ standard: 'sata3', lanes: 2 }, 'link.lanes: found 2, but sata3 has none', 'link.lanes'],
    [{ standart: 'pcie3' }, 'unknown key link.standart', 'link.standart'],
  ])('%j is refused', (link, message, key) => {
    const error = refusal(link);
    expect(error.message).toContain(message);
    expect(error.key).toBe(key);
  });

  test('a mistyped name is told the nearest', () => {
    expect(refusal('pcie3x5').meant).toBe('pcie3x1');
    expect(refusal('stat3').meant).toBe('sata3');
  });
});
