import { expect, test } from 'vitest';
import { specLeaves } from '../src/index.js';

test('the leaves of a spec: lists whole, a strategy as one, however it is written', () => {
  const leaves = (victim: unknown): [string, unknown][] => [
    ...specLeaves({ seed: 1, link: null, ftl: { victim, readNs: [1, 2] } }),
  ];
  const others = (victim: string): [string, unknown][] => [
    ['seed', 1],
    ['link', null],
    ['ftl.victim', victim],
    ['ftl.readNs', [1, 2]],
  ];
  expect(leaves('greedy')).toEqual(others('greedy'));
  expect(leaves({ name: 'greedy', parameters: {} })).toEqual(others('greedy'));
  expect(leaves({ name: 'd-choices', parameters: { d: 4 } })).toEqual(others('d-choices d=4'));
});

test('a drive has a name and more: it is no strategy', () => {
  expect([...specLeaves({ device: { name: 'x', slots: 1 } }).keys()]).toEqual(['device.name', 'device.slots']);
});
