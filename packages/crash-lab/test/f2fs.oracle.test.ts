import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guestMissing, runGuest } from '@flashstack/linux-guest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { boundedWorkloads, DURABILITY_RULES, Judge, randomWorkload, type Workload } from '../src/index.js';
import { type KernelOutcome, kernelOutcomes, kernelScript, kernelTask } from '../src/node/index.js';
import { caseWorkloads, expectCases, kernelCases } from './kernel/cases.js';
import { full, long } from './support.js';

const modes = ['posix', 'strict'] as const;
type Mode = (typeof modes)[number];

const times = long ? 10 : full ? 1 : 0;
const drawn: readonly Workload[] = [
  ...boundedWorkloads({ length: 1, persistence: 'anywhere' }, { sample: { count: 10 * times || 3, seed: 1 } }),
  ...boundedWorkloads({ length: 2, persistence: 'anywhere' }, { sample: { count: 20 * times || 5, seed: 2 } }),
  ...Array.from({ length: 10 * times || 3 }, (_, seed) => randomWorkload({ steps: 10, seed: seed + 1 })),
];

const workloads = [...drawn, ...caseWorkloads];

const folder = mkdtempSync(join(tmpdir(), 'flashstack-f2fs-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** All workloads in all modes, in one boot of the guest. */
async function outcomesInGuest(): Promise<Record<Mode, KernelOutcome[]>> {
  copyFileSync(kernelScript(), join(folder, 'workloads.py'));
  const runs = modes.map((mode) => {
    const volume = {
      fileSystem: 'f2fs',
      mountOptions: `fsync_mode=${mode}`,
      formatArguments: [],
      bytes: 64 << 20,
    } as const;
    const places = { device: '/dev/loop0', backing: '/tmp/image', place: '/mnt/a' };
    writeFileSync(join(folder, `${mode}.json`), kernelTask(workloads, volume, places));
    return `
      truncate -s ${volume.bytes} /tmp/image && mkfs.f2fs -q /tmp/image && losetup /dev/loop0 /tmp/image || exit
      python3 /share/workloads.py < /share/${mode}.json > /share/${mode}.jsonl || exit
      losetup -d /dev/loop0 && rm /tmp/image || exit`;
  });
  const script = `modprobe -a loop f2fs || exit\n${runs.join('\n')}`;
  const { status, output } = await runGuest({ script, share: folder, limitSeconds: long ? 3600 : 600 });
  if (status !== 0) throw new Error(`status ${status} in the guest:\n${output}`);
  const read = (mode: Mode): KernelOutcome[] =>
    kernelOutcomes(
      workloads,
      readFileSync(join(folder, `${mode}.jsonl`), 'utf8')
        .trim()
        .split('\n'),
    );
  return { posix: read('posix'), strict: read('strict') };
}

/** What the judge says of an outcome. */
function complaints({ history, tree, error }: KernelOutcome, rules: string): string[] {
  const steps = JSON.stringify(history.workload.processes[0]);
  if (tree === null) return [`${steps}: ${error}`];
  const violations = new Judge(history, DURABILITY_RULES[rules]).judge(Number.POSITIVE_INFINITY, tree);
  return violations.map(({ rule, path, text }) => `${steps}: ${rule} ${path}: ${text}`);
}

const missing = guestMissing('nothing shows that the judge allows what F2FS leaves of workloads that are cut off');

describe.skipIf(missing)('what a real F2FS leaves of workloads that are cut off', () => {
  let outcomes: Record<Mode, KernelOutcome[]>;
  beforeAll(async () => {
    outcomes = await outcomesInGuest();
  });

  it.each(modes)(`is right to the judge: ${workloads.length} workloads, fsync_mode=%s`, (mode) => {
    expect(outcomes[mode].length).toBe(workloads.length);
    expect(outcomes[mode].flatMap((outcome) => complaints(outcome, `f2fs-${mode}`))).toEqual([]);
  });

  it.each(modes)('is what is known of it, fsync_mode=%s', (mode) => {
    expectCases(outcomes[mode].slice(drawn.length), mode);
  });

  it('is less than the rules demand of a strict one, unless it is: renamed files and directories', () => {
    const moves = kernelCases.flatMap(({ left }, at) =>
      typeof left === 'object' && left.posix !== left.strict ? [at] : [],
    );
    expect(moves.length).toBe(3);
    for (const at of moves) {
      expect(complaints(outcomes.posix[drawn.length + at], 'f2fs-strict').length).toBeGreaterThan(0);
      expect(complaints(outcomes.strict[drawn.length + at], 'f2fs-strict')).toEqual([]);
    }
  });
});
