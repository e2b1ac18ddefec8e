import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { type ExperimentSpec, hashSpec, type Option, readDocument, specSchema } from '../src/index.js';
import { systemOptions } from '../src/options/system-options.js';
import { complaint } from './complaint.js';
import { withMiniJournal } from './stack-support.js';

const MIB = 2 ** 20;
const base = { device: 'mqsim-b8', workload: 'file-jobs', system: { fileSystem: 'mini-journal' } };
const options = [...systemOptions(withMiniJournal)];
const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(specSchema('', withMiniJournal));

/** Two values of an option that differ, neither its default. */
function twoValues(
  path: string,
  { type, values = [], kinds = [], min = 0, max = 1e12, default: fallback }: Option,
): unknown[] {
  if (type === 'boolean') return [true, false];
  if (type === 'enum') return [values[0], values[1]];
  if (type === 'strategy') return [kinds[0].name, kinds[1].name];
  const near = path === 'pageCache.dirtyRatio' ? [30, 40] : [min, min + 1, Math.min(max, min + 2)];
  return near.filter((value) => String(value) !== fallback).slice(0, 2);
}

function documentWith(path: string, value: unknown): Record<string, unknown> {
  const [section, key] = path.split('.');
  const inner = key === undefined ? { [section]: value } : { [section]: { [key]: value } };
  return { ...base, system: { ...base.system, ...inner } };
}

describe('every key of a system', () => {
  test.each(options)('%s is read, checked by the schema, and changes the hash', (path, option) => {
    const hashes = twoValues(path, option).map((value) => {
      const document = documentWith(path, value);
      expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
      const { spec } = readDocument(document, withMiniJournal);
      return hashSpec(spec, null, withMiniJournal).specHash;
    });
    expect(new Set(hashes).size).toBe(2);
    const wrong = documentWith(path, ['wrong']);
    expect(complaint(() => readDocument(wrong, withMiniJournal))).toContain(`system.${path}`);
    expect(validate(wrong)).toBe(false);
  });

  test.each(options.filter(([, { type }]) => type !== 'strategy'))(
    '%s has the default that is written down',
    (path, option) => {
      const number = /^-?[\d.]+$/.test(option.default) ? Number(option.default) : option.default;
      const value = number === 'true' ? true : number === 'false' ? false : number;
      const [plain, said] = [base, documentWith(path, value)].map((document) => {
        const { spec } = readDocument(document, withMiniJournal);
        return hashSpec(spec, null, withMiniJournal).specHash;
      });
      expect(said).toBe(plain);
    },
  );
});

test('a spec without a system has the keys that it had before there were systems', () => {
  const { spec } = hashSpec({ device: 'mqsim-b8', workload: { kind: 'zipf' } });
  const keys = [
    'device',
    'workload',
    'seed',
    'precondition',
    'modules',
    'loop',
    'address',
    'repeat',
    'verify',
    'warmup',
  ];
  expect(Object.keys(spec).sort()).toEqual(keys.sort());
});

describe('wrong systems', () => {
  const read = (document: Record<string, unknown>): string =>
    complaint(() => hashSpec(readDocument({ ...base, ...document }, withMiniJournal).spec, null, withMiniJournal));
  const system = (more: Record<string, unknown>): Record<string, unknown> => ({
    system: { fileSystem: 'mini-journal', ...more },
  });
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an unknown key', system({ cpu: 1 }), /^unknown key system\.cpu\.$/],
    ['an unknown key of a section', system({ pageCache: { dirty: 1 } }), /^unknown key system\.pageCache\.dirty\.$/],
    ['no file system', { system: { memory: '8MiB' } }, /^system\.fileSystem is missing/],
    ['an unknown file system', { system: 'ext5' }, /^Unknown system\.fileSystem "ext5"\. .*Known: memfs, mini-journal/],
    [
      'an unknown mount option',
      system({ fileSystem: { name: 'mini-journal', parameters: { barrier: 0 } } }),
      /^Unknown parameter of mini-journal "barrier"\. Known: inodes, journalBlocks, commitIntervalNs\.$/,
    ],
    [
      'an impossible mount option',
      system({ fileSystem: { name: 'mini-journal', parameters: { commitIntervalNs: 0 } } }),
      /^mini-journal\.commitIntervalNs is 0, expected an integer of at least 1 ns\.$/,
    ],
    [
      'an unknown read-ahead',
      system({ readahead: 'linux-5' }),
      /^Unknown system\.readahead "linux-5"\. Did you mean "linux-6"\?/,
    ],
    ['too little memory', system({ memory: '1MiB' }), /^system\.memory is "1MiB", expected a size of at least 2MiB\./],
    [
      'a wrong unit',
      system({ pageCache: { dirtyExpireNs: '3MB' } }),
      /^system\.pageCache\.dirtyExpireNs is "3MB", expected a time/,
    ],
    [
      'ratios in the wrong order',
      system({ pageCache: { dirtyRatio: 5 } }),
      /^system\.pageCache\.dirtyBackgroundRatio is 10, expected less than dirtyRatio/,
    ],
    ['a workload of requests', { workload: 'zipf' }, /^unknown workload "zipf"\.$/],
    ['a loop', { loop: 'closed:4' }, /^loop has no meaning with a system/],
    ['a warm-up', { warmup: '10%' }, /^warmup has no meaning with a system/],
    ['verification', { verify: true }, /^verify has no meaning with a system/],
    [
      'an unknown key of a job',
      { workload: { kind: 'file-jobs', io_size: '1MiB' } },
      /^unknown key workload\.io_size\.$/,
    ],
    [
      'a file smaller than a request',
      { workload: { kind: 'file-jobs', bs: '1MiB', size: '4k' } },
      /size must be at least bs \(1048576\)/,
    ],
    [
      'time without a limit',
      { workload: { kind: 'file-jobs', timeBased: true } },
      /runtimeNs must be greater than 0 with timeBased/,
    ],
    [
      'an impossible distribution',
      { workload: { kind: 'file-jobs', rw: 'randread', randomDistribution: 'gauss' } },
      /randomDistribution must be random, zipf:theta/,
    ],
    [
      'jobs that share files',
      { workload: { kind: 'file-jobs', jobs: [{}, { rw: 'write' }] } },
      /two jobs are called "job"/,
    ],
    [
      'jobs that are no list',
      { workload: { kind: 'file-jobs', jobs: 2 } },
      /^workload\.jobs is 2, expected a list of maps/,
    ],
    [
      'an unknown key in the list',
      { workload: { kind: 'file-jobs', jobs: [{ bz: 1 }] } },
      /^unknown key workload\.jobs\.0\.bz\.$/,
    ],
    ['jobs of something else', { workload: { kind: 'iozone', jobs: [{}] } }, /^unknown key workload\.jobs\.$/],
    [
      'records that do not divide the file',
      { workload: { kind: 'iozone', size: 10_000 } },
      /size must be a multiple of record/,
    ],
    [
      'no tests',
      { workload: { kind: 'iozone', write: false, read: false, random: false } },
      /tests must be some of 0, 1 and 2/,
    ],
    ['a trace without root', { workload: 'a.strace' }, /^workload\.root is missing/],
    [
      'a relative root',
      { workload: { trace: 'a.strace', root: 'mnt' } },
      /^workload\.root is "mnt", expected an absolute path/,
    ],
    [
      'a key of block traces',
      { workload: { trace: 'a.strace', root: '/mnt', volumes: [1] } },
      /^unknown key workload\.volumes\.$/,
    ],
    [
      'a drive that is written in order',
      { ftl: { mapping: 'zoned' }, device: { preset: 'mqsim-b8', capacity: 256 * MIB } },
      /takes writes only in order \(zoned mapping\)|has zones/,
    ],
  ])('%s', (_, document, message) => expect(read(document)).toMatch(message));

  test('a workload on files without a system says what to add', () => {
    const { device } = base;
    const error = (workload: unknown): unknown => {
      try {
        readDocument({ device, workload }, withMiniJournal);
      } catch (caught) {
        return caught;
      }
      return null;
    };
    for (const workload of ['file-jobs', { kind: 'iozone' }]) {
      expect(error(workload)).toMatchObject({ hints: [expect.stringContaining('add a system'), expect.anything()] });
    }
    const spec = { device, workload: { kind: 'file-jobs' } };
    expect(() => hashSpec(spec)).toThrow('works on files, which takes a file system: add system');
    const asked = { device, system: { fileSystem: 'memfs' }, workload: { kind: 'random' } };
    expect(() => hashSpec(asked)).toThrow('workload random asks the drive itself, but the spec has a system');
    expect(() => hashSpec({ ...asked, workload: { kind: 'file-jobs' }, repeat: 2 })).toThrow(
      'repeat has no meaning with a system',
    );
  });

  test.each([
    [{}, 'workload: expected an object with kind, a text.'],
    [{ kind: 3 }, 'workload: expected an object with kind, a text.'],
    [['file-jobs'], 'workload: expected an object with kind, a text.'],
    [{ kind: 'file-jobs', jobs: 3 }, 'workload.jobs: found 3, expected a list of objects.'],
    [{ kind: 'file-jobs', jobs: [{}, null] }, 'workload.jobs.1: found null, expected an object.'],
    [{ kind: 'file-jobs', parameters: 3 }, 'workload.parameters: found 3, expected an object.'],
  ])('a workload of a program that is of a wrong type: %j', (workload, message) => {
    const spec = { device: base.device, system: { fileSystem: 'memfs' }, workload } as unknown as ExperimentSpec;
    let caught: unknown = null;
    try {
      hashSpec(spec);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code: 'ERR_SPEC_VALUE', message });
  });
});
