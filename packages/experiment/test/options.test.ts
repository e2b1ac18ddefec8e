import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkSsdConfig, presets, resolvePreset, type SsdConfig } from '@flashstack/ssd';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amountAdvice,
  driveOptions,
  hashSpec,
  noExtensions,
  type Option,
  optionGroups,
  optionReference,
  parseAmount,
  readDocument,
  runOptions,
  specSchema,
  type UnitKind,
  writeAmount,
} from '../src/index.js';
import { complaint } from './complaint.js';

const full = process.env.CI !== undefined;
const drive = driveOptions(noExtensions);
const base = { device: 'mqsim-b8', workload: 'random' };

/** A configuration with one value replaced, whatever the value. */
function withValue(config: SsdConfig, path: string, value: unknown): SsdConfig {
  const copy = JSON.parse(JSON.stringify(config)) as SsdConfig;
  const steps = path.split('.');
  const last = steps.pop() as string;
  let node = copy as unknown as Record<string, unknown>;
  for (const step of steps) node = node[step] as Record<string, unknown>;
  node[last] = value;
  return copy;
}

/** A document with one value set by path. */
function documentWith(path: string, value: unknown): Record<string, unknown> {
  const steps = path.split('.');
  const inner = steps.reduceRight<unknown>((node, step) => ({ [step]: node }), value) as Record<string, unknown>;
  return { ...base, ...inner };
}

describe('amounts', () => {
  test.each<[UnitKind, string, number]>([
    ['size', '4GiB', 4 * 2 ** 30],
    ['size', '64k', 65_536],
    ['size', '512B', 512],
    ['size', '480e9', 480e9],
    ['size', '4m', 2 ** 22],
    ['size', '1.5 MiB', 1_572_864],
    ['time', '75us', 75_000],
    ['time', '75µs', 75_000],
    ['time', '3.8 ms', 3_800_000],
    ['time', '2min', 120e9],
    ['time', '5', 5],
    ['rate', '560MB/s', 560e6],
    ['rate', '333MT/s', 333e6],
    ['rate', '3.5GB/s', 3.5e9],
    ['share', '7%', 0.07],
    ['share', '0.07', 0.07],
    ['count', '100k', 100_000],
    ['count', '1_000_000', 1e6],
    ['count', '1e6', 1e6],
    ['count', '1.1k', 1100],
    ['count', '0.25', 0.25],
  ])('%s %s', (kind, text, value) => expect(parseAmount(kind, text)).toBe(value));

  test.each<[UnitKind, string]>([
    ['size', '4GHz'],
    ['size', '512MB'],
    ['size', '64kb'],
    ['size', '4iB'],
    ['size', ''],
    ['time', '3 m'],
    ['time', '10S'],
    ['rate', '5 MiB'],
    ['share', '7 percent'],
    ['count', '5GiB'],
    ['count', 'k'],
    ['count', '--1'],
  ])('%s "%s" is none', (kind, text) => expect(parseAmount(kind, text)).toBeNaN());

  test('of a size that is read both ways: what to write for each', () => {
    expect(amountAdvice('size', '512MB')).toBe('MB may mean 2^20 or 10^6 bytes: write 512MiB or 512e6.');
    expect(amountAdvice('size', ' 1.5 tb')).toBe('TB may mean 2^40 or 10^12 bytes: write 1.5TiB or 1.5e12.');
    expect(amountAdvice('size', '64kb')).toBe('KB may mean 2^10 or 10^3 bytes: write 64KiB or 64e3.');
    expect(amountAdvice('size', '5 x')).toBe('Write it as 4096, 64KiB or 4GiB.');
    expect(amountAdvice('rate', '5MB')).toMatch(/^Write it as 560MB\/s/);
    const refused = { ...base, device: { preset: 'mqsim-b8', capacity: '512MB' } };
    expect(complaint(() => readDocument(refused, noExtensions))).toContain('MB may mean');
  });

  test('above the whole, a share counts only in per cent', () => {
    const spare = (overProvisioning: unknown): unknown => {
      const { device } = readDocument({ ...base, device: { preset: 'mqsim-b8', overProvisioning } }, noExtensions).spec;
      return (device as { overProvisioning?: number }).overProvisioning;
    };
    expect([spare(0.28), spare('28%'), spare('0.28'), spare(1), spare('150%')]).toEqual([0.28, 0.28, 0.28, 1, 1.5]);
    for (const found of [28, '28']) {
      expect(complaint(() => spare(found))).toContain(
        'a share of 2800%. Write 28% or 0.28, or 2800% if you mean that.',
      );
    }
    expect(complaint(() => spare('10001%'))).toContain('expected a share from 0 to 10000%');
    expect(complaint(() => spare(-0.1))).toContain('expected a share from 0 to 10000%');
  });

  test('come back as they were written', () => {
    const kinds: UnitKind[] = ['size', 'time', 'rate', 'count'];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.oneof(fc.nat(1e6), fc.nat(2 ** 30), fc.maxSafeNat()), (kind, value) => {
        expect(parseAmount(kind, writeAmount(kind, value))).toBe(value);
      }),
      { numRuns: full ? 5000 : 500 },
    );
  });
});

describe('the table of a drive', () => {
  test('describes every value of every preset', () => {
    const check = (path: string, value: unknown): void => {
      const isLeaf = drive.has(path) || value === null || typeof value !== 'object';
      if (!isLeaf) for (const [key, inner] of Object.entries(value)) check(path === '' ? key : `${path}.${key}`, inner);
      else if (!['name', 'summary', 'capacityBytes'].includes(path) && value !== null)
        expect(drive.has(path), path).toBe(true);
    };
    for (const { sources: _sources, figures: _figures, ...config } of presets) check('', config);
  });

  const config = resolvePreset('generic-tlc-nvme');
  const complete: SsdConfig = { ...config, nand: { ...config.nand } };
  const amounts = [...drive].filter(([path, { type }]) => type === 'amount' && !path.startsWith('ftl.'));

  test.each(amounts.map(([path, option]): [string, Option] => [path, option]))(
    '%s has the range that the drive itself checks',
    (path, { min = 0, max = 0, list, whole }) => {
      const start = path.startsWith('nand.reliability.') ? withReliability(complete) : complete;
      const set = (value: number): string =>
        complaint(() => checkSsdConfig(withValue(start, path, list === true ? [value, value, value] : value)));
      const key = path.split('.').at(-1) as string;
      // Another rule may object to a value at the edge, but not the range.
      const range = new RegExp(`${key}(\\[\\d\\])?: expected (an integer|a number) from`);
      expect(set(min)).not.toMatch(range);
      expect(set(max)).not.toMatch(range);
      const beyond = whole === true ? 1 : Math.max(Math.abs(max), 1) * 1e-3;
      expect(set(min - beyond)).toContain(key);
      // Integers beyond the safe ones are none.
      expect(set(max + (max >= Number.MAX_SAFE_INTEGER ? max : beyond))).toContain(key);
    },
  );

  function withReliability(from: SsdConfig): SsdConfig {
    const { spec } = readDocument(
      documentWith('nand.reliability.maxRetry'.replace('maxRetry', 'factoryBad'), 0),
      noExtensions,
    );
    const { reliability } = hashSpec(spec).spec.device.nand;
    return { ...from, nand: { ...from.nand, reliability } };
  }
});

/** Two values of an option that differ from each other, both possible. */
function twoValues(path: string, option: Option): readonly [unknown, unknown] {
  const list = (value: unknown): unknown => (option.list === true ? [value, value] : value);
  switch (option.type) {
    case 'boolean':
      return [true, false];
    case 'enum':
      return [list(option.values?.[0]), list(option.values?.[1])];
    case 'strategy':
      return [option.kinds?.[0].name, option.kinds?.[1].name];
    case 'pairing':
      return ['simple', 'shifted'];
    case 'loop':
      return ['open', 'closed:3'];
    case 'warmup':
      return [100, '10%'];
    case 'string':
      return ['a', 'b'];
    case 'amount': {
      const { min = 0, max = 1e6, whole } = option;
      const step = whole === true ? 1 : (max - min) / 64;
      return [list(min), list(min + (path === 'device.overProvisioning' ? 0.1 : step))];
    }
  }
}

/** The document that makes an option mean something, where it needs company. */
function companyOf(path: string): Record<string, unknown> {
  if (path === 'timeScale' || path === 'maxInFlight') return { loop: 'open' };
  const kind = /wearLevelling\.(delta|interval)$/.test(path) ? 'threshold' : 'bet';
  if (/wearLevelling\.(delta|interval|k|threshold)$/.test(path)) return { ftl: { wearLevelling: { kind } } };
  return {};
}

function merged(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const result = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const both = typeof result[key] === 'object' && typeof value === 'object' && result[key] !== null && value !== null;
    result[key] = both ? merged(result[key] as Record<string, unknown>, value as Record<string, unknown>) : value;
  }
  return result;
}

const settable = [...runOptions, ...drive].filter(([path]) => path !== 'modules');

describe('every key of a spec', () => {
  test.each(settable.map(([path, option]): [string, Option] => [path, option]))(
    '%s is read into the spec',
    (path, option) => {
      const specs = twoValues(path, option).map((value) => {
        const document = merged(companyOf(path), documentWith(path, value));
        return JSON.stringify(readDocument(document, noExtensions).spec);
      });
      expect(specs[0]).not.toBe(specs[1]);
    },
  );

  // Where two values can both be resolved without touching the rest, the hash must tell them apart.
  test('changes the hash', () => {
    let compared = 0;
    for (const [path, option] of settable) {
      const hashes = twoValues(path, option).map((value) => {
        const { spec } = readDocument(merged(companyOf(path), documentWith(path, value)), noExtensions);
        let hash = '';
        // A drive of one channel and a page of 16 bytes, say, is impossible for other reasons.
        complaint(() => (hash = hashSpec(spec).specHash));
        return hash;
      });
      if (hashes.includes('')) continue;
      compared++;
      expect(hashes[0], path).not.toBe(hashes[1]);
    }
    expect(compared).toBeGreaterThan(settable.length * 0.7);
  });

  test('of a drive is read by a component, not only by what checks it', () => {
    const sources = ['ssd', 'ftl', 'nand-device'].flatMap((name) => {
      const folder = fileURLToPath(new URL(`../../${name}/src/`, import.meta.url));
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(
          (file) =>
            file.endsWith('.ts') &&
            !/presets|^(config|check|check-config|check-host|options|resolve-preset)\.ts$/.test(file),
        )
        .map((file) => readFileSync(`${folder}${file}`, 'utf8'));
    });
    const text = sources.join('\n').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    for (const path of drive.keys()) {
      const key = path.split('.').at(-1) as string;
      // A property read (`x.key`), or a destructured one.
      const read = new RegExp(
        `\\.${key}\\b(?!\\s*=[^=])|[{,]\\s*${key}\\b[^;{}()]*\\}\\s*=|\\b${key}[,:]? *[^;()]*\\} = `,
      );
      expect(read.test(text), path).toBe(true);
    }
  });
});

describe('the JSON Schema', () => {
  const validate = new Ajv2020({ allErrors: false, strict: true, allowUnionTypes: true }).compile(specSchema());

  test.each(settable.map(([path, option]): [string, Option] => [path, option]))(
    '%s: takes what is read, refuses what is not',
    (path, option) => {
      for (const value of twoValues(path, option)) {
        expect(
          validate(merged(companyOf(path), documentWith(path, value))),
          `${JSON.stringify(value)} ${JSON.stringify(validate.errors)}`,
        ).toBe(true);
      }
      // A map that no option takes.
      const wrong = documentWith(path, { wrong: true });
      expect(complaint(() => readDocument(wrong, noExtensions))).not.toBe('');
      expect(validate(wrong)).toBe(false);
    },
  );

  test.each([
    { ...base, foo: 1 },
    { device: 'mqsim-b8' },
    { ...base, device: 'mqsim' },
    { ...base, device: { preset: 'mqsim-b8', size: 1 } },
    { ...base, workload: { kind: 'random', request: 1 } },
    { ...base, workload: { kind: 'random', requests: '5 x' } },
    { ...base, nand: { timing: { eraseNs: '3 parsecs' } } },
    { ...base, nand: { geometry: { planes: 9 } } },
    { ...base, ftl: { victim: { name: 'd-choices', parameters: { e: 1 } } } },
    { ...base, ftl: null },
    { ...base, link: 'pcie3x5' },
    { ...base, device: { preset: 'mqsim-b8', capacity: '4GB' } },
    { ...base, device: { preset: 'mqsim-b8', overProvisioning: 7 } },
  ])('refuses %j, as the reader does', (document) => {
    expect(complaint(() => readDocument(document, noExtensions))).not.toBe('');
    expect(validate(document)).toBe(false);
  });

  test.each([
    { ...base, device: { preset: 'mqsim-b8', capacity: '4GiB', overProvisioning: '7%' } },
    { ...base, workload: { kind: 'zipf', theta: 1.2, requests: '1M', requestBytes: '16KiB' } },
    { ...base, workload: { trace: 'a.csv', format: 'msr' } },
    { ...base, workload: 'a.csv' },
    { ...base, scheduler: 'event' },
    { ...base, scheduler: { kind: 'event', policy: 'priority' } },
    { ...base, ftl: { victim: { name: 'd-choices', parameters: { d: 3 } } } },
    { ...base, link: 'pcie3x4' },
    { ...base, link: { standard: 'pcie3', lanes: 4, commandNs: 0 } },
    { ...base, link: null, buffer: null, nand: { reliability: null } },
    { ...base, warmup: '10s', loop: 'closed:4', modules: ['./m.ts'] },
  ])('takes %j, as the reader does', (document) => {
    expect(complaint(() => readDocument(document, noExtensions))).toBe('');
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  });

  test('of one section', () => {
    expect(Object.keys(specSchema('ftl').properties as object)).toContain('victim');
    expect(Object.keys(specSchema('nand.timing').properties as object)).toContain('eraseNs');
    expect(() => specSchema('nand.timng')).toThrow('Did you mean "nand.timing"?');
  });
});

test('the reference page is up to date', async () => {
  for (const { options, section } of optionGroups()) {
    for (const [key, { help }] of options) expect(help, `${section} ${key}`).toMatch(/[.…]$/);
  }
  await expect(optionReference()).toMatchFileSnapshot('../../../docs/reference/options.md');
});
