import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fixtureUrl } from '@flashstack/fixtures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { FakeHost } from './fake-host.js';

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
let folder = '';
beforeAll(() => {
  folder = `${mkdtempSync(`${tmpdir()}/flashstack-crash-`)}/`;
});
afterAll(() => rmSync(folder, { recursive: true }));

async function crash(args: string, host = new FakeHost({ env: { LANG: 'C.UTF-8' } })): ReturnType<typeof outcome> {
  return outcome(await runCli(['crash', ...args.split(' ')], host, settings), host);
}

async function outcome(code: number, host: FakeHost): Promise<{ code: number; out: string; err: string }> {
  return { code, out: host.out, err: host.err.replaceAll(/\n +/g, ' ') };
}

// A drive that lies about its flushes loses things under any file system.
const lying = 'run --fs mini-journal --model lying(2) --seq 1 --budget 3 --images 8';
const read = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');

describe('crash run', () => {
  test('a sound file system on a sound drive loses nothing, counted to the last image', async () => {
    const { code, out } = await crash(`run --fs mini-journal --budget 6 --images 8 --out ${folder}sound.json`);
    expect(out).toMatch(/Nothing is lost in \d+ images/);
    expect(out.replaceAll(/\n +/g, ' ')).toMatch(/lost 0 of \d+ images: \d+ tried, \d+ unique, \d+ recovered states/);
    expect(code).toBe(0);
    const { counts, cases, stopped, workloads } = JSON.parse(read('sound.json')) as Record<string, never>;
    expect([cases, stopped, workloads]).toEqual([[], null, 6]);
    expect((counts as { recovered: number }).recovered).toBeGreaterThan(20);
  });

  test('one, two and three shards make the same result to the byte', async () => {
    await crash(`${lying} --out ${folder}whole.json --cases ${folder}whole`);
    expect(JSON.parse(read('whole.json'))).toMatchObject({ shards: { of: 1, parts: [0] } });
    for (const of of [2, 3]) {
      const shards = Array.from({ length: of }, (_, at) => `${folder}${at + 1}of${of}.json`);
      for (const [at, path] of shards.entries()) await crash(`${lying} --shard ${at + 1}/${of} --out ${path}`);
      // In any order.
      const given = [...shards].reverse().join(' ');
      const { code } = await crash(`merge ${given} --out ${folder}merged.json --cases ${folder}merged${of}`);
      expect(code).toBe(1);
      expect(read('merged.json')).toBe(read('whole.json'));
      expect(readdirSync(`${folder}merged${of}`)).toEqual(readdirSync(`${folder}whole`));
    }
    const { err } = await crash(`merge ${folder}1of2.json ${folder}1of2.json --out ${folder}x.json`);
    expect(err).toContain('shard 1/2 is given twice');
    expect((await crash(`merge ${folder}1of2.json ${folder}sound.json --out ${folder}x.json`)).err).toContain(
      'not of one exploration: ',
    );
    const part = await crash(`merge ${folder}1of3.json ${folder}3of3.json --out ${folder}part.json`);
    expect(part.out).toContain('shard 1, 3 of 3');
  });

  test('failures become small files that fail again, with what happens in them', async () => {
    const files = readdirSync(`${folder}whole`);
    expect(files.length).toBeGreaterThan(1);
    for (const name of files) {
      expect(statSync(`${folder}whole/${name}`).size).toBeLessThan(2000);
      const { versions, seed, case: found } = JSON.parse(read(`whole/${name}`)) as Record<string, never>;
      expect([versions, seed]).toEqual([{ flashstack: '1.2.3' }, 1]);
      expect(name.startsWith(`${(found as { violation: { rule: string } }).violation.rule}-`)).toBe(true);
    }
    const path = `${folder}whole/${files[0]}`;
    const { code, out } = await crash(`replay ${path} --image ${folder}image`);
    expect(code).toBe(1);
    expect(out).toMatch(/ +\d+ +#\d+ .*write block \d+/);
    expect(out.replaceAll(/\n +/g, ' ')).toMatch(/power cut: kept .*; lost |power cut: nothing is open/);
    expect(out).toContain(`${files[0].split('-')[0]}: `);
    expect(statSync(`${folder}image`).size).toBe(2 ** 20);
    const json = JSON.parse((await crash(`replay ${path} --json`)).out) as { fails: boolean; timeline: string[] }[];
    expect(json[0].fails).toBe(true);
    expect(json[0].timeline.length).toBeGreaterThan(3);
  });

  test('a case of a file system that writes something else by now is explored anew', async () => {
    const name = readdirSync(`${folder}whole`)[0];
    const file = JSON.parse(read(`whole/${name}`)) as { target: { parameters: object }; case: { model: string } };
    // The journal lies elsewhere, and the drive is honest.
    const changed = {
      ...file,
      target: { ...file.target, parameters: { inodes: 64 } },
      case: { ...file.case, model: 'volatile', images: [{ cut: 1, case: 0, chosen: [1, 1, 1, 1, 1, 1, 1] }] },
    };
    writeFileSync(`${folder}changed.json`, JSON.stringify(changed));
    const { code, out, err } = await crash(`replay ${folder}changed.json`);
    expect(err).toBe('');
    expect(out.replaceAll('\n', ' ')).toMatch(/explored anew: nothing is violated in \d+ images/);
    expect(code).toBe(0);
  });

  test('an interrupt keeps what there is; a budget of time ends by itself', async () => {
    const host = new FakeHost({ env: { LANG: 'C.UTF-8' } });
    host.nowMs = () => {
      host.clockMs += 11_000;
      return host.clockMs;
    };
    host.onErr = () => host.interrupt();
    const { code, out } = await crash(`run --fs mini-journal --seq 2 --images 4 --out ${folder}some.json`, host);
    expect(code).toBe(130);
    expect(out).toMatch(/interrupted: \d+ of [\d\s\u202f]+ workloads were explored/);
    expect(JSON.parse(read('some.json'))).toMatchObject({ stopped: 'interrupted' });
    const timed = new FakeHost({ env: { LANG: 'C.UTF-8' } });
    timed.nowMs = () => ++timed.clockMs;
    expect((await crash('run --fs mini-journal --random 5 --budget 12ms --images 4', timed)).out).toContain(
      'the budget of time is used up: ',
    );
  });

  test('random workloads, programs beside each other, workloads of a file', async () => {
    expect((await crash('run --fs mini-journal --random 6 --programs 2 --budget 3 --images 4')).code).toBe(0);
    writeFileSync(
      `${folder}own.yaml`,
      '- processes: [[[rename, A/foo, bar], [fsync, bar]]]\n- processes: [[[create, x], [fsync, x]], [[chmod, foo, 0o600]]]\n',
    );
    const { code, out } = await crash(`run --fs mini-journal --workload ${folder}own.yaml`);
    expect(out).toContain('workloads 2;');
    expect(code).toBe(0);
  });

  test.each([
    [
      'run --fs memfs',
      'keeps nothing on a device: there is nothing that a power cut could leave. Others: ext4, mini-journal',
    ],
    ['run --fs mini-jurnal', 'Did you mean "mini-journal"?'],
    ['run', "required option '--fs <name>' not specified"],
    ['run --fs mini-journal --model volatil', 'Did you mean "volatile"?'],
    ['run --fs mini-journal --rules posx', 'Did you mean "posix"?'],
    ['run --fs mini-journal --seq 4', '--seq is "4", expected a whole number from 1 to 3'],
    ['run --fs mini-journal --seq 1 --random 4', '--seq and --random both say what programs do'],
    ['run --fs mini-journal --programs 2', '--programs goes with --random'],
    ['run --fs mini-journal --budget soon', '--budget is "soon", expected a number of workloads or a time'],
    ['run --fs mini-journal --shard 3/2', '--shard is "3/2", expected i/n with i from 1 to n'],
    ['run --fs mini-journal --capacity 10', '--capacity is "10", expected whole blocks of 4 KiB'],
    ['run --fs mini-journal --capacity 64KiB', '--capacity makes the volume larger'],
    ['run --fs mini-journal --set inode=4', 'Did you mean "inodes"?'],
    ['run --fs mini-journal --depth 4', '--depth is "4"'],
    ['run --fs mini-journal --workload nowhere.yaml', 'nowhere.yaml: there is no such file'],
    ['replay nowhere.json', 'nowhere.json: there is no such file'],
    ['merge nowhere.json --out x', 'nowhere.json: there is no such file'],
  ])('%s: exit code 2 and what to do', async (args, text) => {
    const { code, out, err } = await crash(args);
    expect(err).toContain(text);
    expect([code, out]).toEqual([2, '']);
    expect(existsSync('x')).toBe(false);
  });

  test.each([
    ['- processes: [[[renam, a, b]]]', 'Did you mean "rename"?'],
    ['- processes: [[[rename, a]]]', 'expected rename with 2 arguments: path, path'],
    ['- process: [[[sync]]]', 'Did you mean "processes"?'],
    ['- processes: [[[truncate, foo, x]]]', 'expected an integer ≥ 0 of bytes'],
    ['- base: empti\n  processes: [[[sync]]]', 'Did you mean "empty"?'],
    ['- base: empty', 'expected a list with a list of steps for each program'],
    ['sync', 'workload 1 of '],
  ])('workloads of %s are refused', async (yaml, text) => {
    writeFileSync(`${folder}bad.yaml`, `${yaml}\n`);
    const { code, err } = await crash(`run --fs mini-journal --workload ${folder}bad.yaml`);
    expect(err).toContain(text);
    expect(code).toBe(2);
  });

  test('a page of shards, put together, and of another configuration', async () => {
    const shards = [1, 2].map((at) => `${folder}${at}of2.json`).join(' ');
    const { code, out } = await crash(`report ${shards} ${folder}sound.json --out ${folder}page.html`);
    expect(code).toBe(1);
    expect(out).toContain('Nothing is lost in ');
    expect(out).not.toContain('shard');
    const page = read('page.html');
    expect(page).toContain('2 configurations');
    expect(page).toContain('lying(2)');
    expect(page).toContain('<ol class="time">');
    expect((await crash(`report ${folder}sound.json`)).code).toBe(0);
  });

  test('a result is no case and a case no result', async () => {
    expect((await crash(`replay ${folder}whole.json`)).err).toContain('is no case of a crash exploration');
    const path = `${folder}whole/${readdirSync(`${folder}whole`)[0]}`;
    expect((await crash(`merge ${path} --out ${folder}x.json`)).err).toContain('is no result of a crash exploration');
  });
});
