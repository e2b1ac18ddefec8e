import { InputError } from '@flashstack/sim';
import { describe, expect, it } from 'vitest';
import { boundedWorkloads, checkWorkload, KNOWN_BUGS, randomWorkload } from '../src/index.js';

const complaint = (value: unknown): string => {
  try {
    checkWorkload(value);
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  return 'none';
};
const oneStep = (...step: unknown[]): string => complaint({ processes: [[step]] });

describe('workloads from files', () => {
  it('are taken as they are, with defaults', () => {
    const processes = [
      [['create', 'A/foo'], ['sync']],
      [
        ['tmpfile', '#1', ''],
        ['link', '#1', 'bar'],
        ['close', '#1'],
      ],
    ];
    expect(checkWorkload({ processes })).toEqual({ base: 'empty', seed: 1, processes });
  });

  it('are all that is enumerated, drawn or known', () => {
    const bounded = boundedWorkloads({ length: 2, persistence: 'anywhere' }, { sample: { count: 500, seed: 1 } });
    const random = Array.from({ length: 50 }, (_, seed) => randomWorkload({ steps: 40, seed, processes: 2 }));
    for (const workload of [...bounded, ...random, ...KNOWN_BUGS.map((bug) => bug.workload)]) {
      expect(checkWorkload(JSON.parse(JSON.stringify(workload)))).toEqual(workload);
    }
  });

  it('are refused with the place and what was expected', () => {
    expect(complaint([])).toBe('workload is [], expected an object with processes, and perhaps base and seed.');
    expect(complaint({ proceses: [] })).toContain('Did you mean "processes"?');
    expect(complaint({ processes: [], base: 'empty' })).toContain('processes is [], expected a list');
    expect(complaint({ processes: [[]], base: 'two fils' })).toContain('Did you mean "two files"?');
    expect(complaint({ processes: [[]], seed: 0.5 })).toBe('seed is 0.5, expected an integer ≥ 0.');
    expect(complaint({ processes: [5] })).toContain('processes[0] is 5, expected a list of steps');
    expect(oneStep('renam', 'a', 'b')).toContain('Did you mean "rename"?');
    expect(oneStep('rename', 'a')).toContain('expected rename with 2 arguments: path, path');
    expect(oneStep('write', 'a', -1, 5)).toBe(
      'processes[0][0], argument 2 of write is -1, expected an integer ≥ 0 of bytes.',
    );
    expect(oneStep('create', '/a')).toContain('argument 1 of create is "/a", expected a path relative to the root');
    expect(oneStep('create', 'a/../b')).toContain('without "." and ".."');
    expect(oneStep('fallocate', 'a', 'punsh', 0, 5)).toContain('expected one of allocate, keep-size, punch');
    expect(oneStep('append', '#1', 5)).toContain('expected a handle that `open` or `tmpfile` has opened before');
    expect(oneStep('write-direct', '#1', 0, 5)).toContain('expected a path');
  });
});
