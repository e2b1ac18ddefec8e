import { expect, it } from 'vitest';
import { misplaceWrites, type Step, type WrongWrite } from '../src/index.js';
import { miniJournal } from './crash-subjects.js';

const steps: Step[] = [
  ['write', 'foo', 0, 4096],
  ['fsync', 'foo'],
  ['write', 'A/foo', 4096, 4096],
  ['fdatasync', 'A/foo'],
  ['append', 'foo', 5000],
  ['sync'],
];
const workload = { base: 'two files', processes: [steps], seed: 1 };

it.each<WrongWrite>(['lost', 'misdirected'])('each %s write of data that was made durable is found', (wrong) => {
  const { runs, violations } = misplaceWrites(miniJournal(), workload, wrong);
  expect(runs).toBeGreaterThanOrEqual(4);
  expect([...new Set(violations.map(({ request }) => request))]).toEqual(Array.from({ length: runs }, (_, at) => at));
  const rules = new Set(violations.map(({ violation: { rule } }) => rule));
  for (const rule of rules) expect(['R2', 'R3', 'R7', 'R8', 'R10', 'R13', 'E2']).toContain(rule);
});

it('a misdirected write shows in the file that it hits', () => {
  const overwrite: Step[] = [
    ['write', 'foo', 4096, 4096],
    ['fsync', 'foo'],
  ];
  const { runs, violations } = misplaceWrites(miniJournal(), { ...workload, processes: [overwrite] }, 'misdirected');
  expect(runs).toBe(1);
  expect(violations.map(({ violation: { rule, path } }) => `${rule} ${path}`).sort()).toEqual(['R2 foo', 'R7 A/foo']);
});

it('a write that nobody has been promised may be lost', () => {
  const processes: Step[][] = [
    [
      ['write', 'foo', 0, 4096],
      ['sync-range', 'foo', 0, 4096],
    ],
  ];
  const { runs, violations } = misplaceWrites(miniJournal(), { ...workload, processes }, 'lost');
  expect(runs).toBe(1);
  expect(violations).toEqual([]);
});
