import { describe, expect, it } from 'vitest';
import { type Bounds, boundedWorkloads, countBounded } from '../src/index.js';
import { onMemFs, onMiniJournal } from './support.js';

const all = (bounds: Bounds, selection = {}): string[] =>
  [...boundedWorkloads(bounds, selection)].map(({ processes }) => JSON.stringify(processes));

describe('bounded workloads', () => {
  it('are as many as the decision record says', () => {
    expect(countBounded({ length: 1, persistence: 'anywhere' })).toEqual({ cores: 56, workloads: 308 });
    expect(countBounded({ length: 2, persistence: 'last' })).toEqual({ cores: 3173, workloads: 25_287 });
    expect(countBounded({ length: 2, persistence: 'anywhere' })).toEqual({ cores: 3173, workloads: 170_980 });
  });

  it.skipIf(process.env.CI === undefined)('of three operations are as many as the decision record says', () => {
    expect(countBounded({ length: 3, persistence: 'last' })).toEqual({ cores: 187_799, workloads: 1_794_347 });
    expect(countBounded({ length: 3, persistence: 'anywhere' })).toEqual({ cores: 187_799, workloads: 120_484_188 });
  });

  it('are all different, and the shards have each of them once', () => {
    const bounds: Bounds = { length: 1, persistence: 'anywhere' };
    const whole = all(bounds);
    expect(new Set(whole).size).toBe(whole.length);
    const shards = [0, 1, 2].flatMap((index) => all(bounds, { shard: { index, of: 3 } }));
    expect(shards.sort()).toEqual([...whole].sort());
  });

  it('are drawn without repetition, the same by the same seed, and sharded like all', () => {
    const bounds: Bounds = { length: 2, persistence: 'anywhere' };
    const drawn = all(bounds, { sample: { count: 200, seed: 7 } });
    expect(new Set(drawn).size).toBe(200);
    expect(all(bounds, { sample: { count: 200, seed: 7 } })).toEqual(drawn);
    expect(all(bounds, { sample: { count: 200, seed: 8 } })).not.toEqual(drawn);
    const shards = [0, 1].flatMap((index) => all(bounds, { sample: { count: 200, seed: 7 }, shard: { index, of: 2 } }));
    expect(shards.sort()).toEqual([...drawn].sort());
  });

  it('leave out what a file system does not offer', () => {
    const capabilities = onMiniJournal().fileSystem.capabilities;
    const names = new Set(
      all({ length: 1, persistence: 'last', capabilities }).map((text) => JSON.parse(text)[0][0][0]),
    );
    expect(names.has('fallocate') || names.has('setxattr')).toBe(false);
    expect(names.has('rename')).toBe(true);
    const offered = countBounded({ length: 1, persistence: 'last', capabilities: onMemFs().fileSystem.capabilities });
    expect(offered.cores).toBe(56);
  });

  it('refuse bounds and shards that do not exist', () => {
    expect(() => countBounded({ length: 0, persistence: 'last' })).toThrow('length is 0');
    expect(() => all({ length: 1, persistence: 'last' }, { shard: { index: 2, of: 2 } })).toThrow('shard 2 of 2');
  });
});
