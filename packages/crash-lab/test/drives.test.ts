import { describe, expect, it } from 'vitest';
import { cutDrive, cutFileSystem, LyingDevice, type Workload } from '../src/index.js';
import { driveSubject, driveSubjects, ftlDefects, plainDrive } from './drives.js';
import { full, long, miniJournalSubject } from './subjects.js';

const cutsEach = long ? 25_000 : full ? 50 : 4;

describe('power cuts of drives in the middle of array operations', () => {
  for (const subject of driveSubjects) {
    it(`${subject.name}: every sector shows what the buffer allows`, () => {
      let cuts = 0;
      let busy = 0;
      for (let seed = 1; cuts < cutsEach; seed++) {
        const report = cutDrive({ subject, seed });
        expect(report.violations, `seed ${seed}`).toEqual([]);
        cuts += report.cuts;
        if (report.busy) busy++;
      }
      expect(busy).toBeGreaterThan(0);
    });
  }

  it('comes after each single thing that happens inside of a drive', () => {
    const subject = driveSubject('page', plainDrive);
    for (let firstCut = 0, more = true; more; firstCut += full ? 1 : 16) {
      const report = cutDrive({ subject, seed: 2, cuts: 1, requests: 25, firstCut });
      expect(report.violations, `cut after ${firstCut}`).toEqual([]);
      more = report.busy;
    }
  });

  it('is the same again for the same seed', () => {
    const subject = driveSubject('lying', plainDrive, (device) => new LyingDevice(device));
    expect(cutDrive({ subject, seed: 4 })).toEqual(cutDrive({ subject, seed: 4 }));
  });

  it('finds a drive that lies about its flushes', () => {
    const subject = driveSubject('lying', plainDrive, (device) => new LyingDevice(device));
    const rules = new Set<string>();
    for (let seed = 1; seed <= 10; seed++)
      for (const { rule } of cutDrive({ subject, seed }).violations) rules.add(rule);
    expect(rules).toContain('D1 flush');
  });

  it('finds a drive that says it is protected and is not', () => {
    const subject = { ...driveSubject('volatile', plainDrive), promise: 'protected' } as const;
    const rules = new Set<string>();
    for (let seed = 1; seed <= 10; seed++)
      for (const { rule } of cutDrive({ subject, seed }).violations) rules.add(rule);
    expect(rules).toContain('D2 protected');
  });
});

describe('planted defects of the page-mapping FTL are caught by name of a rule', () => {
  it.each(ftlDefects)('$name', ({ rule, plant }) => {
    const subject = driveSubject('defective', plainDrive, (device) => device, plant);
    const rules = new Set<string>();
    for (let seed = 1; seed <= 40 && !rules.has(rule); seed++) {
      for (const violation of cutDrive({ subject, seed }).violations) rules.add(violation.rule);
    }
    expect(rules).toContain(rule);
  });
});

describe('a file system on a drive that loses power', () => {
  const workloads: readonly Workload['processes'][] = [
    [
      [
        ['append', 'foo', 5000],
        ['fsync', 'foo'],
        ['rename', 'foo', 'bar'],
        ['create', 'foo'],
        ['fsync', 'foo'],
      ],
    ],
    [[['create', 'B/bar'], ['append', 'B/bar', 5000], ['rename', 'B/bar', 'A/foo'], ['sync']]],
    [
      [
        ['write', 'foo', 1000, 3000],
        ['fdatasync', 'foo'],
        ['unlink', 'A/foo'],
        ['fsync', 'A'],
      ],
    ],
    [
      [
        ['link', 'foo', 'bar'],
        ['fsync', 'foo'],
        ['truncate', 'bar', 3000],
        ['fsync', 'bar'],
      ],
      [
        ['append', 'A/foo', 9000],
        ['fsync', 'A/foo'],
      ],
    ],
  ];
  const drives = driveSubjects.filter(({ name }) => /^(page|dftl|fast)/.test(name));

  it('keeps what it has promised, wherever the cut comes', () => {
    let cuts = 0;
    let busy = 0;
    for (const [at, drive] of drives.entries()) {
      const processes = workloads[at % workloads.length];
      const workload: Workload = { base: 'two files', processes, seed: 1 };
      for (let after = 0, more = true; more; after += full ? 7 : 60) {
        const report = cutFileSystem({ subject: miniJournalSubject(), drive, workload, after, seed: after + 1 });
        expect(report.violations, `${drive.name}, cut after ${after}`).toEqual([]);
        more = report.busy;
        cuts++;
        if (more) busy++;
      }
    }
    expect(busy).toBeGreaterThan(cuts / 2);
  });

  it('does not on a drive that lies, and the rule is named', () => {
    const drive = driveSubject('lying', plainDrive, (device) => new LyingDevice(device));
    const workload: Workload = { base: 'two files', processes: workloads[0], seed: 1 };
    const rules = new Set<string>();
    for (let after = 0; after < 400; after += 5) {
      for (const { rule } of cutFileSystem({ subject: miniJournalSubject(), drive, workload, after }).violations)
        rules.add(rule);
    }
    expect([...rules].sort()).not.toEqual([]);
    for (const rule of rules) expect(rule).toMatch(/^[RE]\d+/);
  });
});
