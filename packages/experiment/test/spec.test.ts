import { createHash } from 'node:crypto';
import { defaultVssimDelays as vssim } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import { presets } from '@flashstack/ssd';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type ExperimentSpec, hashSpec, resolveDevice, runExperiment, sha256 } from '../src/index.js';
import { smallSpec } from './small-spec.js';

const full = process.env.CI !== undefined;

/** The error that a spec causes. */
function refusal(changes: object): InputError {
  try {
    hashSpec({ ...smallSpec, ...changes } as ExperimentSpec);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('the spec was accepted');
}

describe('sha256', () => {
  test('agrees with the platform', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    const check = (text: string): void => {
      expect(sha256(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
    };
    for (const length of [1, 54, 55, 56, 63, 64, 65, 119, 120, 1000]) check('ä'.repeat(length));
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), check), { numRuns: full ? 1000 : 100 });
  });
});

describe('canonical JSON', () => {
  test('is valid JSON of the same value, whatever the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
      { numRuns: full ? 1000 : 100, examples: [[{ b: 1, a: { d: 2, c: [1, { f: 0, e: null }] } }]] },
    );
  });

  test('refuses what JSON cannot hold, and says where it stands', () => {
    expect(() => canonicalJson({ a: [1, { b: () => 1 }] })).toThrow('spec.a[1].b is a function');
    expect(() => canonicalJson({ a: Number.NaN })).toThrow('spec.a is NaN');
    expect(() => canonicalJson({ a: new Map() })).toThrow('spec.a is an object of class Map');
  });
});

describe('a spec', () => {
  test('hashes every value that matters, and no documentation', () => {
    const hash = (changes: object): string => hashSpec({ ...smallSpec, ...changes } as ExperimentSpec).specHash;
    const base = hash({});
    expect(hash({ seed: 1 })).toBe(base);
    const [preset] = presets;
    const described = { ...preset, summary: 'another text', sources: [], figures: [] };
    expect(hash({ device: { config: described } })).toBe(hash({ device: preset.name }));
    const changes = [
      { seed: 2 },
      { scheduler: 'event' },
      { precondition: 'none' },
      { repeat: 2 },
      { address: 'wrap' },
      { loop: { kind: 'closed', depth: 31 } },
      { loop: { kind: 'open' } },
      { workload: { kind: 'random', parameters: { requests: 60_001, readShare: 0.3 } } },
      { workload: { kind: 'zipf', parameters: { requests: 60_000, readShare: 0.3 } } },
      { device: 'mqsim-b8' },
    ];
    expect(new Set([base, ...changes.map(hash)]).size).toBe(changes.length + 1);
  });

  test('is hashed by what is set: a default of the FTL that is written down changes the hash, and nothing else', async () => {
    const withOverrides = (overrides: object): ExperimentSpec => {
      const { device } = smallSpec;
      if (typeof device === 'string') throw new Error('the small spec has a map as device');
      const workload = { kind: 'random', parameters: { requests: 10_000, readShare: 0.3 } };
      return { ...smallSpec, workload, device: { ...device, overrides: { ...device.overrides, ...overrides } } };
    };
    const [plain, written] = [{}, { 'ftl.gcMode': 'token', 'ftl.allocation': 'dynamic', 'ftl.order': 'CWDP' }];
    const { spec: _plainSpec, specHash: plainHash, ...asIs } = await runExperiment(withOverrides(plain));
    const { spec: _writtenSpec, specHash: writtenHash, ...same } = await runExperiment(withOverrides(written));
    expect(same).toEqual(asIs);
    expect(writtenHash).not.toBe(plainHash);
    // What the preset says may be said again.
    expect(hashSpec(withOverrides({ 'ftl.victim': 'greedy', 'ftl.domain': 'unit' })).specHash).toBe(plainHash);
  });

  test('every leaf of a drive changes the hash', () => {
    const config = resolveDevice({ device: 'generic-tlc-nvme' });
    const seen = new Set<string>([hashOf(config)]);
    let leaves = 0;
    for (const changed of variants(config)) {
      leaves++;
      seen.add(hashOf(changed));
    }
    expect(leaves).toBeGreaterThan(60);
    expect(seen.size).toBe(leaves + 1);
  });

  test('overrides single values', () => {
    const config = resolveDevice({
      device: { preset: 'mqsim-b8', overrides: { 'ftl.victim': 'fifo', 'nand.timing.readNs.1': 99_000, buffer: null } },
    });
    expect(config.ftl.victim).toBe('fifo');
    expect(config.nand.timing.readNs).toEqual([75_000, 99_000]);
    expect(resolveDevice({ device: 'mqsim-b8', scheduler: 'event' }).scheduler.kind).toBe('event');
  });

  test('asks for VSSIM by name: its delays are there, and can be set one by one', () => {
    const plain = { 'nand.features.multiPlane': false };
    const named = resolveDevice({ device: { preset: 'mqsim-b8', overrides: plain }, scheduler: 'vssim' });
    expect(named.scheduler).toEqual({ ...resolveDevice({ device: 'mqsim-b8' }).scheduler, kind: 'vssim', vssim });
    const overrides = { ...plain, 'scheduler.kind': 'vssim', 'scheduler.vssim.switchReadNs': '5us' };
    expect(resolveDevice({ device: { preset: 'mqsim-b8', overrides } }).scheduler.vssim).toEqual({
      ...vssim,
      switchReadNs: 5000,
    });
    // Without them nothing is added to what a spec means, and its hash stays.
    expect(resolveDevice({ device: 'mqsim-b8' }).scheduler).not.toHaveProperty('vssim');
    expect(() => resolveDevice({ device: 'mqsim-b8', scheduler: 'vssim' })).toThrow(/multiPlane: VSSIM has none/);
  });

  test('is refused with the nearest known name', () => {
    expect(refusal({ sede: 1 }).message).toContain('Did you mean "seed"?');
    expect(refusal({ device: 'generic-tcl-nvme' }).message).toContain('Did you mean "generic-tlc-nvme"?');
    expect(refusal({ device: { prest: 'x' } }).message).toContain('Did you mean "preset"?');
    const typo = { preset: 'mqsim-b8', overrides: { 'nand.timing.eraseN': 1 } };
    expect(refusal({ device: typo }).message).toContain('Did you mean nand.timing.eraseNs?');
    expect(refusal({ workload: { kind: 'randm' } }).message).toContain('Did you mean "random"?');
    expect(refusal({ workload: { kind: 'random', parameters: { request: 1 } } }).message).toContain('"requests"');
    expect(refusal({ precondition: 'stady' }).message).toContain('Did you mean "steady"?');
    expect(refusal({ scheduler: 'timelin' }).message).toContain('Did you mean "timeline"?');
    expect(refusal({ address: 'wrp' }).message).toContain('Did you mean "wrap"?');
    expect(refusal({ loop: { kind: 'close', depth: 1 } }).message).toContain('Did you mean "closed"?');
  });

  test('is refused when a value is impossible', () => {
    expect(refusal({ seed: -1 }).message).toContain('seed: found -1');
    expect(refusal({ repeat: 0 }).message).toContain('repeat: found 0');
    expect(refusal({ device: {} }).message).toContain('either the name of a preset or a config');
    expect(refusal({ device: { preset: 'mqsim-b8', capacityBytes: 1000 } }).code).toBe('ERR_SSD_CAPACITY');
    expect(refusal({ workload: { kind: 'given', name: 'x' } }).code).toBe('ERR_SPEC_SOURCE');
    const impossible = { preset: 'mqsim-b8', overrides: { 'nand.geometry.channels': 0 } };
    expect(refusal({ device: impossible }).message).toContain('expected a whole number from 1 to 1024');
  });

  test('with an unknown victim policy or too little spare space is refused when the drive is made', async () => {
    const unknown = { preset: 'mqsim-b8', overrides: { 'ftl.victim': 'gredy' } };
    await expect(runExperiment({ ...smallSpec, device: unknown })).rejects.toThrow('Did you mean "greedy"?');
    const option = { preset: 'mqsim-b8', overrides: { 'ftl.victm': 'greedy' } };
    await expect(runExperiment({ ...smallSpec, device: option })).rejects.toThrow('Did you mean ftl.victim?');
    const tight = { preset: 'mqsim-b8', capacityBytes: 256 * 2 ** 20, overProvisioning: 0.001 };
    await expect(runExperiment({ ...smallSpec, device: tight })).rejects.toThrow('over-provisioning');
  });
});

function hashOf(config: unknown): string {
  return sha256(canonicalJson(config));
}

/** The configuration with one leaf changed, for every leaf. */
function* variants(value: unknown, rebuild: (part: unknown) => unknown = (part) => part): Generator<unknown> {
  if (typeof value === 'number') yield rebuild(value + 1);
  else if (typeof value === 'string') yield rebuild(`${value}x`);
  else if (typeof value === 'boolean') yield rebuild(!value);
  else if (value === null) yield rebuild(0);
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield* variants(item, (part) => rebuild(value.with(at, part)));
  } else if (typeof value === 'object') {
    for (const [key, item] of Object.entries(value))
      yield* variants(item, (part) => rebuild({ ...value, [key]: part }));
  }
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
