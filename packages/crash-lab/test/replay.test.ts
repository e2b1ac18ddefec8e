import type { PlantedName } from '@flashstack/mini-journal';
import { describe, expect, it } from 'vitest';
import { type CrashCase, Explorer, minimiseCase, replayCase, type Step, type Workload } from '../src/index.js';
import { miniJournal } from './crash-subjects.js';

function workload(...steps: Step[]): Workload {
  return { base: 'two files', processes: [steps], seed: 1 };
}

function firstCase(planted: PlantedName, of: Workload, options = {}): CrashCase {
  const found = new Explorer(miniJournal(planted), { uses: 1, ...options }).explore(of);
  if (found === null) throw new Error(`${planted} is not found`);
  return found;
}

const long = workload(
  ['write', 'foo', 100, 3000],
  ['mkdir', 'C'],
  ['rename', 'A/foo', 'bar'],
  ['fsync', 'bar'],
  ['chmod', 'foo', 0o600],
  ['sync'],
);

describe('a case', () => {
  it('fails again in the same way after it was written down, and tells what happens', () => {
    const subject = miniJournal('rename-in-two');
    const found = JSON.parse(JSON.stringify(firstCase('rename-in-two', long))) as CrashCase;
    const { violations, timeline } = replayCase(subject, found);
    expect(violations[0]).toEqual(found.violation);
    const text = timeline.join('\n');
    expect(text).toMatch(/rename A\/foo bar begins/);
    expect(text).toMatch(/#\d+ flush, then write block \d+ durably \(journal\)/);
    expect(text).toMatch(/power cut: (kept .*; lost .*|nothing is open)/);
    expect(text).toContain(`${found.violation.rule}: `);
    // A sound file system passes, if it writes the same; otherwise it is told that the case is of another one.
    expect(() => replayCase({ ...subject, name: 'other' }, found)).toThrow('subject is other');
  });

  it('is minimised to the operations that it needs, and a second time to itself', () => {
    const subject = miniJournal('rename-in-two');
    const found = firstCase('rename-in-two', long);
    const least = minimiseCase(subject, found);
    const [steps] = least.workload.processes;
    expect(steps.length).toBeLessThanOrEqual(2);
    expect(steps.some(([name]) => name === 'rename')).toBe(true);
    expect(least.violation.rule).toBe(found.violation.rule);
    expect(replayCase(subject, least).violations[0]).toEqual(least.violation);
    expect(minimiseCase(subject, least)).toEqual(least);
    expect(JSON.stringify(least).length).toBeLessThan(1000);
  });

  it('of a power cut during recovery is replayed too', () => {
    const planted = 'replay-unflushed';
    const of = workload(['mkdir', 'C'], ['create', 'bar'], ['sync']);
    const found = firstCase(planted, of, { again: 1, first: 'R10' });
    expect(found.images.length).toBe(2);
    const { violations, timeline } = replayCase(miniJournal(planted), found);
    expect(violations[0]).toEqual(found.violation);
    expect(timeline.join('\n')).toContain('power cut during recovery');
  });
});
