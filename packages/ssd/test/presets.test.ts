import { describe, expect, test } from 'vitest';
import {
  checkSsdConfig,
  type Provenance,
  type ProvenanceEntry,
  presets,
  provenanceAt,
  provenanceOf,
} from '../src/index.js';

/** Paths of all numbers of a value. */
function numbersIn(value: unknown, path: string): string[] {
  if (typeof value === 'number') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(inner, `${path}.${key}`));
}

/** Paths of everything in a value, sections included. */
function pathsIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const prefix = path === '' ? '' : `${path}.`;
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, `${prefix}${key}`))];
}

const classes = ['datasheet', 'paper', 'simulator', 'calibrated', 'chosen'];
/** Times and rates of the flash are never covered by a word on their section. */
const ownEntry = ['readNs', 'programNs', 'eraseNs', 'channelBytesPerSec'].map((key) => `nand.timing.${key}`);

describe.each(presets.map((preset) => [preset.name, preset] as const))('%s', (name, preset) => {
  const provenance = provenanceOf(name) as Provenance;

  test('is possible, and names its sources and figures', () => {
    checkSsdConfig(preset);
    expect(preset.sources.length).toBeGreaterThan(0);
    expect(preset.figures.length).toBeGreaterThan(0);
  });

  test('every number has a provenance', () => {
    const { figures: _, ...config } = preset;
    const numbers = Object.entries(config).flatMap(([key, value]) => numbersIn(value, key));
    expect(numbers.length).toBeGreaterThan(40);
    expect(numbers.filter((path) => provenanceAt(provenance, path) === null)).toEqual([]);
    expect(ownEntry.filter((path) => !Object.hasOwn(provenance, path))).toEqual([]);
  });

  test('every provenance is of something that the drive has', () => {
    const known = pathsIn(preset);
    expect(Object.keys(provenance).filter((path) => !known.includes(path))).toEqual([]);
    for (const [path, { class: kind, source }] of Object.entries<ProvenanceEntry>(provenance)) {
      expect(classes, path).toContain(kind);
      expect(source.length, path).toBeGreaterThan(2);
    }
  });

  test('is calibrated on its basic bandwidths only, within 3 %; predictions have 10 %', () => {
    const { figures } = preset;
    const calibrated = figures.filter(({ kind }) => kind === 'calibrated');
    expect(new Set(calibrated.map(({ metric }) => metric)).size).toBe(calibrated.length);
    expect(calibrated.every(({ tolerance, miss }) => tolerance <= 0.03 && miss === undefined)).toBe(true);
    // Two figures of VSSIM have the bands of its paper.
    const predicted = figures.filter(({ kind }) => kind === 'predicted' && name !== 'vssim-x25m');
    expect(predicted.every(({ tolerance }) => tolerance === 0.1)).toBe(true);
    // Something fitted needs a figure it was fitted to, of this drive or of one of its kind.
    const fitted = Object.values(provenance).some((entry) => entry.class === 'calibrated');
    if (fitted) expect(name === 'samsung-840-120' || calibrated.length > 0).toBe(true);
    for (const { metric, hostNs = 0 } of figures) if (hostNs > 0) expect(metric).toMatch(/^random/);
  });
});

test('a drive of the user has no provenance, and a path without one has none', () => {
  expect(provenanceOf('of-my-own')).toBeNull();
  const entry: ProvenanceEntry = { class: 'chosen', source: 'test' };
  const provenance: Provenance = { link: entry, 'nand.timing.readNs': { ...entry, class: 'paper' } };
  expect(provenanceAt(provenance, 'link.commandNs')).toBe(entry);
  expect(provenanceAt(provenance, 'nand.timing.readNs.1')?.class).toBe('paper');
  expect(provenanceAt(provenance, 'nand.timing.eraseNs')).toBeNull();
  expect(provenanceAt(provenance, 'linkage')).toBeNull();
});
