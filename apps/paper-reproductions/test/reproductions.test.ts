import { fileURLToPath } from 'node:url';
import { sha256 } from '@flashstack/experiment';
import { fixtureUrl } from '@flashstack/fixtures';
import type { Reproduction } from '@flashstack/report';
import type { Trace } from '@flashstack/workloads';
import { openTrace } from '@flashstack/workloads/node';
import { describe, expect, test } from 'vitest';
import { type RecordedState, recorded, reproduce, studies } from '../src/index.js';
import { reproductionPage } from './page.js';

// Each study is run whole under CI, otherwise only if it is quick. Its values have the digest that was recorded: the same
// spec and seeds give the same bytes here as there. `FLASHSTACK_RECORD=1` writes the records and the page anew.
const QUICK_SECONDS = 2;
const recording = process.env.FLASHSTACK_RECORD === '1';
const whole = recording || process.env.CI !== undefined;
const openFixture = async (name: string): Promise<Trace> => (await openTrace(fileURLToPath(fixtureUrl(name)))).trace;
const ran = new Map<string, Reproduction>();

const stateOf = (reproduction: Reproduction): RecordedState => {
  const verdicts: Record<string, number> = {};
  for (const { verdict } of reproduction.claims) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  return { verdicts, sha256: sha256(JSON.stringify(reproduction)) };
};

describe.each(studies)('$id', (study) => {
  test('is described', () => {
    expect(study.id).toMatch(/^[A-Z0-9]+(-[A-Z0-9]+)*$/);
    expect(study.title.length).toBeLessThanOrEqual(36);
    expect(study.seeds).toBeGreaterThan(0);
    expect(study.scale).not.toBe('');
    if (!recording) expect(Object.keys(recorded)).toContain(study.id);
  });

  test.skipIf(!whole && study.cpuSeconds > QUICK_SECONDS)('gives the values that were recorded', async () => {
    const reproduction = await reproduce(study, { openTrace: openFixture });
    ran.set(study.id, reproduction);
    expect(reproduction.claims.length).toBeGreaterThan(0);
    for (const { name, verdict, reason } of reproduction.claims) {
      if (verdict === 'miss') expect(reason, name).toBeDefined();
    }
    if (!recording) expect(stateOf(reproduction)).toEqual(recorded[study.id]);
  });
});

test('only studies that exist are recorded', () => {
  if (!recording) expect(Object.keys(recorded).sort()).toEqual(studies.map(({ id }) => id).sort());
});

// Last: the tests above have run by then.
test.skipIf(!whole)('the records and the page of the documentation are true', async () => {
  if (recording) {
    const states = Object.fromEntries([...ran].map(([id, reproduction]) => [id, stateOf(reproduction)]));
    await expect(`${JSON.stringify(states, null, 2)}\n`).toMatchFileSnapshot('../src/recorded.json');
  }
  if (whole)
    await expect(reproductionPage([...ran.values()])).toMatchFileSnapshot('../../../docs/validation/reproductions.md');
});
