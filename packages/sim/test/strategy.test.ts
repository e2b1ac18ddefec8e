import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeParameter,
  InputError,
  lookupStrategy,
  nearestName,
  type ParameterTable,
  resolveParameters,
  type StrategyKind,
} from '../src/index.js';

const parameters: ParameterTable = [
  { name: 'window', type: 'integer', unit: 'blocks', default: 8, min: 1, max: 64, help: 'Blocks looked at.' },
  { name: 'weight', type: 'number', default: 0.5, min: 0, help: 'Weight of the age.' },
  { name: 'lazy', type: 'boolean', default: false, help: 'Wait.' },
  { name: 'order', type: 'enum', values: ['oldest', 'newest'], default: 'oldest', help: 'Which first.' },
  { name: 'label', type: 'string', default: '', help: 'Shown.' },
];
const kinds: StrategyKind<string>[] = ['greedy', 'fifo', 'cost-benefit', 'd-choices'].map((name) => ({
  name,
  summary: name,
  parameters,
  create: (values) => `${name} ${JSON.stringify(values)}`,
}));

function errorOf(action: () => unknown): InputError {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('strategies', () => {
  it('are looked up by name, with a suggestion for a name that is not known', () => {
    expect(lookupStrategy(kinds, 'fifo', 'victim policy').name).toBe('fifo');
    const error = errorOf(() => lookupStrategy(kinds, 'gredy', 'victim policy'));
    expect([error.code, error.key]).toEqual(['ERR_UNKNOWN_NAME', 'victim policy']);
    expect(error.message).toBe(
      'Unknown victim policy "gredy". Did you mean "greedy"? Known: greedy, fifo, cost-benefit, d-choices.',
    );
    expect(errorOf(() => lookupStrategy(kinds, 'xyzzyplugh')).message).not.toContain('Did you mean');
  });

  it('resolve their parameters with defaults', () => {
    expect(resolveParameters(kinds[0])).toEqual({ window: 8, weight: 0.5, lazy: false, order: 'oldest', label: '' });
    const given = { window: 64, lazy: true, order: 'newest', weight: 0, label: 'x' };
    expect(resolveParameters(kinds[0], given)).toEqual(given);
  });

  it.each([
    [{ windw: 3 }, 'ERR_UNKNOWN_NAME', 'Unknown parameter of greedy "windw". Did you mean "window"?'],
    [{ window: 65 }, 'ERR_PARAMETER_RANGE', 'greedy.window is 65, expected an integer from 1 to 64 blocks.'],
    [{ window: 1.5 }, 'ERR_PARAMETER_TYPE', 'greedy.window is 1.5, expected an integer from 1 to 64 blocks.'],
    [{ window: '8' }, 'ERR_PARAMETER_TYPE', 'greedy.window is "8", expected an integer'],
    [{ weight: -1 }, 'ERR_PARAMETER_RANGE', 'greedy.weight is -1, expected a number of at least 0.'],
    [{ weight: Number.NaN }, 'ERR_PARAMETER_TYPE', 'greedy.weight is NaN'],
    [{ lazy: 1 }, 'ERR_PARAMETER_TYPE', 'greedy.lazy is 1, expected true or false.'],
    [{ label: 1 }, 'ERR_PARAMETER_TYPE', 'greedy.label is 1, expected a string.'],
    [{ order: 'odlest' }, 'ERR_UNKNOWN_NAME', 'Unknown greedy.order "odlest". Did you mean "oldest"?'],
    [{ order: null }, 'ERR_PARAMETER_TYPE', 'greedy.order is null, expected one of oldest, newest.'],
  ])('refuse %j', (given, code, message) => {
    const error = errorOf(() => resolveParameters(kinds[0], given));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it('describe what a parameter takes', () => {
    expect(parameters.map(describeParameter)).toEqual([
      'an integer from 1 to 64 blocks',
      'a number of at least 0',
      'true or false',
      'one of oldest, newest',
      'a string',
    ]);
    expect(describeParameter({ name: 'x', type: 'number', unit: 'ns', max: 5, default: 0, help: '' })).toBe(
      'a number of at most 5 ns',
    );
    expect(describeParameter({ name: 'x', type: 'integer', unit: 'ns', default: 0, help: '' })).toBe(
      'an integer in ns',
    );
    expect(describeParameter({ name: 'x', type: 'number', default: 0, help: '' })).toBe('a number');
  });
});

describe('nearest name', () => {
  it('finds names with a letter missing, added, changed or two swapped, in any case', () => {
    const names = ['samsung-950-pro-256', 'intel-x25m-vssim', 'emmc-5.0', 'mqsim-b8', 'generic-tlc-nvme'];
    expect(nearestName('mqsim-b', names)).toBe('mqsim-b8');
    expect(nearestName('MQSIM-B8', names)).toBe('mqsim-b8');
    expect(nearestName('mqism-b8', names)).toBe('mqsim-b8');
    expect(nearestName('emmc-5', names)).toBe('emmc-5.0');
    expect(nearestName('samsung-950-pro', names)).toBe('samsung-950-pro-256');
    expect(nearestName('floppy', names)).toBeNull();
    expect(nearestName('x', [])).toBeNull();
  });

  it('is the shortest that begins with it, though others have fewer edits', () => {
    const names = ['samsung-840', 'samsung-950-pro-512-raw', 'samsung-950-pro-256'];
    expect(nearestName('samsung-950', names)).toBe('samsung-950-pro-256');
    expect(nearestName('Samsung-950-PRO-5', names)).toBe('samsung-950-pro-512-raw');
    expect(nearestName('sam', names)).toBeNull();
  });

  it('a swap of neighbours counts one, as a recursive definition says', () => {
    const distance = (a: string, b: string): number => {
      if (a === '' || b === '') return a.length + b.length;
      const options = [
        distance(a.slice(1), b) + 1,
        distance(a, b.slice(1)) + 1,
        distance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1),
      ];
      if (a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0])
        options.push(distance(a.slice(2), b.slice(2)) + 1);
      return Math.min(...options);
    };
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
    fc.assert(
      fc.property(word, fc.array(word, { minLength: 1, maxLength: 6 }), (name, candidates) => {
        const least = Math.min(...candidates.map((candidate) => distance(name, candidate)));
        const nearest = nearestName(name, candidates);
        const limit = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 2));
        if (nearest === null) expect(least).toBeGreaterThan(limit);
        else expect(distance(name, nearest)).toBe(least);
      }),
    );
  });
});
