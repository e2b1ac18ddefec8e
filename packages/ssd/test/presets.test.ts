import { describe, expect, test } from 'vitest';
import { checkSsdConfig, presets } from '../src/index.js';
import { measure } from './measure.js';

describe('presets', () => {
  for (const preset of presets) {
    test(`${preset.name} is possible, and says where its values come from`, () => {
      checkSsdConfig(preset);
      expect(preset.sources.length).toBeGreaterThan(0);
      expect(preset.figures.length).toBeGreaterThan(0);
    });

    for (const figure of preset.figures) {
      const { metric, depth, value, tolerance, kind, miss } = figure;
      test(`${preset.name}: ${metric} at depth ${depth} (${kind})`, () => {
        const error = measure(preset.name, figure) / value - 1;
        // A declared miss must really miss: otherwise the declaration is out of date.
        if (miss === undefined) expect(Math.abs(error)).toBeLessThanOrEqual(tolerance);
        else expect(Math.abs(error)).toBeGreaterThan(tolerance);
      });
    }
  }
});
