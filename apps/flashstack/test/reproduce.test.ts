import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fixtureUrl } from '@flashstack/fixtures';
import { type Claim, type Reproduction, stripOf } from '@flashstack/report';
import { describe, expect, test } from 'vitest';
import { stripText } from '../src/claim-strip.js';
import { runCli } from '../src/cli.js';
import { Style, width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);

async function cli(args: string, host = new FakeHost({})): Promise<{ code: number; out: string; err: string }> {
  const code = await runCli(args.split(' ').filter(Boolean), host, settings);
  return { code, out: host.out, err: host.err };
}

describe('reproduce', () => {
  test('--list names every experiment, its state and its time, in 80 columns', async () => {
    const { code, out } = await cli('reproduce --list');
    expect(code).toBe(0);
    for (const id of ['VS-X25M', 'VS-PAGE', 'VS-HYBRID', 'VS-WAF', 'VS-RAND', 'VN-950', 'VN-CORES', 'VN-CACHE']) {
      expect(out).toContain(`\n${id} `);
    }
    for (const id of ['ORC-MAP', 'AMF-MAP', 'RA-SEQ', 'RA-RAND', 'RA-SIZE', 'RA-GAP', 'SCHEMES'])
      expect(out).toContain(`\n${id} `);
    for (const line of out.split('\n')) expect(width(line)).toBeLessThanOrEqual(80);
    const listed = JSON.parse((await cli('reproduce --list --json')).out) as { id: string; state: string }[];
    expect(listed.find(({ id }) => id === 'ORC-MAP')?.state).toBe('pass');
  });

  test('prints published, simulated, band and verdict; writes page, figures and values', async () => {
    const out = folder();
    const found = await cli(`reproduce orc-map AMF-MAP --out ${out}`);
    expect(found.code).toBe(0);
    expect(found.out).toMatch(/page mapping \/ OrcFS, 1 TiB +465 × +452 × +450 … 470 +✓ pass/);
    expect(found.out).toContain('8 pass, 0 misses, 2 expected, 1 without a band.\n◇ published  ● simulated  ├┤ band\n');
    // 452 of 450 … 470, where 465 was published; below the numbers.
    expect(found.out).toContain(`\n${' '.repeat(32)}···├──●───────────────◇─────┤···\n`);
    for (const line of found.out.split('\n'))
      if (!line.includes(out)) expect(width(line), line).toBeLessThanOrEqual(80);
    expect(readdirSync(out).sort()).toEqual([
      'AMF-MAP-table-size.svg',
      'AMF-MAP.json',
      'ORC-MAP-table-size.svg',
      'ORC-MAP.json',
      'reproductions.html',
    ]);
    const values = JSON.parse(readFileSync(`${out}/ORC-MAP.json`, 'utf8')) as Reproduction;
    expect(values.claims.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'shown']);
    expect(values.versions).toEqual({ flashstack: '1.2.3' });
  });

  test('the same again, to the byte; --json prints the values alone', async () => {
    const first = await cli(`reproduce VN-CACHE --json --out ${folder()}`);
    expect((await cli(`reproduce VN-CACHE --json --out ${folder()}`)).out).toBe(first.out);
    expect((JSON.parse(first.out) as Reproduction[])[0].id).toBe('VN-CACHE');
  });

  test('a share of something has no sign, as a change has', async () => {
    const { out } = await cli(`reproduce VN-CORES --seeds 1 --out ${folder()}`);
    expect(out).toMatch(/saturates +8\d\.\d % +80\.0 … 100 +✓ pass/);
  });

  test.each([
    ['reproduce', 'reproduce needs the name of an experiment'],
    ['reproduce VS-RANDOM', 'Did you mean'],
    ['reproduce --all ORC-MAP', '--all takes no names'],
    ['reproduce ORC-MAP orc-map', 'given twice'],
    ['reproduce ORC-MAP --seeds 0', '--seeds'],
    ['reproduce ORC-MAP --out=', '--out is ""'],
  ])('%s: exit code 2 and what to do', async (args, text) => {
    const { code, out, err } = await cli(args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain(text);
  });
});

describe('the strip of a claim', () => {
  const base: Claim = {
    name: 'x',
    unit: '',
    published: 10.3,
    band: { low: 8, high: 12 },
    simulated: { mean: 9, low: 9, high: 9 },
    basis: 'time',
    verdict: 'pass',
  };
  const strip = (changes: Partial<Claim>, tightness: Reproduction['tightness'] = 'B', ascii = true): string => {
    const claim = { ...base, ...changes };
    return stripText(stripOf(claim, tightness), claim.verdict, new Style(false, ascii));
  };

  test('places band, published and simulated value on a scale of their own', () => {
    // 8 to 12 with 14 % of room at each side: 31 steps from 7.44 to 12.56.
    const cell = (value: number): number => Math.round(((value - 7.44) / 5.12) * 31);
    const text = strip({});
    expect(width(text)).toBe(32);
    expect([text.indexOf('['), text.indexOf('*'), text.indexOf('o'), text.indexOf(']')]).toEqual(
      [8, 9, 10.3, 12].map(cell),
    );
    expect(text).toMatch(/^\.+\[-*\*-*o-*\]\.+$/);
    expect(strip({}, 'B', false)).toBe(
      text
        .replaceAll('.', '·')
        .replaceAll('-', '─')
        .replace('[', '├')
        .replace(']', '┤')
        .replace('*', '●')
        .replace('o', '◇'),
    );
  });

  test('shows the range of the seeds, a miss, a band that is open, a direction', () => {
    expect(strip({ simulated: { mean: 10, low: 9, high: 11 } })).toMatch(/^\.+\[-+=+\*o=+-+\]\.+$/);
    expect(strip({ verdict: 'miss', simulated: { mean: 13, low: 13, high: 13 } })).toMatch(/\]\.+X\.+$/);
    expect(strip({ published: 'shrinks', band: { low: null, high: 12 } })).toMatch(/^-+\*-+\]\.+$/);
    expect(strip({ published: 'shrinks', band: { low: 8, high: null } })).toMatch(/^\.+\[-+\*-+$/);
    const direction = { unit: '%', published: 'more', band: null, verdict: 'shown' } as const;
    expect(strip(direction, 'D')).toMatch(/^\.+\|\.+\*\.+$/);
  });

  test('is missing where there is nothing to compare with', () => {
    expect(strip({ published: 'not given', band: null, verdict: 'shown' })).toBe('');
    expect(strip({ simulated: { mean: Number.NaN, low: Number.NaN, high: Number.NaN } })).toBe('');
  });
});

describe('mapping-size', () => {
  test('of other sizes, as JSON', async () => {
    const { out } = await cli('mapping-size --capacity 1TiB --superblock 64MiB --json');
    const [space] = JSON.parse(out) as { superblockBytes: number; schemes: { page: { bytes: number } } }[];
    expect(space.superblockBytes).toBe(64 * 2 ** 20);
    expect(space.schemes.page.bytes).toBe(2 ** 30);
  });

  test('of areas and zones of any size', async () => {
    const { out } = await cli('mapping-size --capacity 1GiB --superblock 7MiB --metadata 64MiB --zone 96MiB --json');
    const [{ schemes }] = JSON.parse(out) as { schemes: Record<string, { bytes: number }> }[];
    expect(schemes.disaggregate.bytes).toBe(4 * (16_384 + 147));
    expect(schemes.zoned.bytes).toBe(4 * 11);
  });

  test.each([
    ['mapping-size --capacity x', '--capacity is "x", expected a whole size such as 1TiB'],
    ['mapping-size --superblock 7MiB', '--superblock: found 7340032, expected a multiple of 2 MiB'],
    ['mapping-size --superblock 7MiB', 'the segment of F2FS, unless --metadata is given, for a capacity of 240 GiB'],
    ['mapping-size --capacity 512MB', 'MB may mean 2^20 or 10^6 bytes: write 512MiB or 512e6.'],
    ['mapping-size --capacity 1GiB --metadata 2GiB', '--metadata: found 2147483648, expected at most the capacity'],
    ['mapping-size --zone 0', '--zone is "0", expected a whole size such as 1TiB'],
    ['mapping-size --slot 100', '--slot: found 100, expected an integer of at least 512, for a capacity of 240 GiB'],
    ['mapping-size --capacity 1GiB --cached-entries 262145', '--cached-entries is 262145, but a capacity of 1 GiB has'],
    ['mapping-size --capacity 1GiB --log-blocks 2049', '--log-blocks is 2049, but a capacity of 1 GiB has 2048 blocks'],
  ])('%s: exit code 2 and what to do', async (args, text) => {
    const { code, err } = await cli(args);
    expect(code).toBe(2);
    expect(err.replaceAll('\n   ', ' ')).toContain(text);
  });
});
