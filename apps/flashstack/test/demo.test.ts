import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fixtureUrl } from '@flashstack/fixtures';
import { expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const out = mkdtempSync(`${tmpdir()}/flashstack-`);
const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };

async function demo(args: readonly string[], host: FakeHost): Promise<number> {
  return await runCli(['demo', '--color', 'never', '--out', out, ...args], host, settings);
}

test('two traces on two drives: every figure there, garbage collection at work, within a screen', async () => {
  const host = new FakeHost({});
  expect(await demo([], host)).toBe(0);
  const lines = host.out.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
  expect(host.out).not.toMatch(/NaN|undefined|Infinity/);
  for (const drive of ['generic-tlc-nvme', 'sata-840-pro-class']) {
    const rows = lines.filter((line) => new RegExp(`${drive} +\\d`).test(line));
    expect(rows.length).toBe(2);
    for (const row of rows) {
      const cells = row.replaceAll('\u202f', '').trim().split(/ +/);
      const [waf, erases] = cells.slice(-2).map(Number);
      expect(waf).toBeGreaterThanOrEqual(1);
      expect(erases).toBeGreaterThan(0);
    }
    for (const trace of ['sqlite-delete', 'postgres']) expect(host.out).toContain(`${trace} on ${drive}: `);
  }
  expect(host.out).toContain('npm run -s flashstack -- replay');
  expect(host.err.match(/^prepare {2}steady state/gm)?.length).toBe(4);
});

test('Ctrl-C shows what there is', async () => {
  const host = new FakeHost({ terminal: true });
  host.onErr = (text) => {
    if (text.includes('replay')) host.interrupt();
  };
  expect(await demo([], host)).toBe(130);
  expect(host.out).toContain('interrupted');
});

test('Ctrl-C while the second drive is prepared shows the first', async () => {
  const host = new FakeHost({ terminal: true });
  let prepared = 0;
  host.onErr = (text) => {
    if (text.includes('steady state …') && ++prepared === 2) host.interrupt();
  };
  expect(await demo([], host)).toBe(130);
  expect(host.out).toContain('interrupted: some runs are missing');
  expect(host.out).toContain('sqlite-delete on generic-tlc-nvme');
});
