import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { fixtureUrl } from '@flashstack/fixtures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { FakeHost } from './fake-host.js';

// The image commands against e2fsprogs, each in both directions: what these write is read there, and the other way round.

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
const script = fileURLToPath(new URL('../../../scripts/flashstack.mjs', import.meta.url));
const env = { ...process.env, LC_ALL: 'C', PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const missing = toolMissing();

let folder = '';
beforeAll(() => {
  folder = `${mkdtempSync(`${tmpdir()}/flashstack-image-`)}/`;
  // Builds the bundle if it is older than the sources: what is killed below is the copy alone.
  execFileSync(process.execPath, [script, '--version'], { stdio: ['ignore', 'pipe', 'inherit'] });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Whether these tests have to be skipped, which is said; an error with `CI` set. */
function toolMissing(): boolean {
  if (['/usr/sbin/e2fsck', '/sbin/e2fsck'].some((path) => existsSync(path))) return false;
  const message = 'e2fsck is missing (Debian package e2fsprogs): images are not compared with it';
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
  return true;
}

async function image(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const host = new FakeHost({ env: { LANG: 'C.UTF-8' } });
  const code = await runCli(['image', ...args], host, settings);
  return { code, out: host.out, err: host.err };
}

function debugfs(path: string, request: string): string {
  return execFileSync('debugfs', ['-R', request, path], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function mke2fs(path: string, size: string, ...args: string[]): void {
  execFileSync('truncate', ['-s', size, path]);
  execFileSync('mke2fs', ['-q', '-F', '-t', 'ext4', ...args, path], { env, stdio: 'pipe' });
}

/** Complaints of e2fsck, which changes nothing; empty: sound. */
function complaints(path: string): string {
  const { status, stdout } = spawnSync('e2fsck', ['-fn', path], { env, encoding: 'utf8' });
  return status === 0 ? '' : stdout;
}

/** A tree with something of everything that needs no rights. */
function makeTree(root: string): void {
  mkdirSync(`${root}/d/e`, { recursive: true });
  writeFileSync(`${root}/big`, Buffer.from(Uint8Array.from({ length: 700_001 }, (_, at) => (at * 7919) >>> 5)));
  writeFileSync(`${root}/d/ü b`, 'text\n');
  chmodSync(`${root}/d/ü b`, 0o4751);
  linkSync(`${root}/big`, `${root}/d/hard`);
  symlinkSync('../d', `${root}/link`);
  symlinkSync(`/${'x'.repeat(200)}`, `${root}/long`);
  const sparse = openSync(`${root}/sparse`, 'w');
  writeSync(sparse, 'end', 5_000_000);
  ftruncateSync(sparse, 20_000_000);
  closeSync(sparse);
  execFileSync('mkfifo', [`${root}/fifo`]);
  utimesSync(`${root}/big`, 1_111_111_111.25, 1_222_222_222.5);
  lutimesSync(`${root}/link`, 1_111_111_111, 1_222_222_223);
  chmodSync(`${root}/d/e`, 0o1700);
  utimesSync(`${root}/d/e`, 1_000_000_001, 1_000_000_002);
}

/** What `find` tells of a tree, but for the times that a copy of this machine cuts off. */
function listing(root: string): string {
  const format = '%P %y %m %U %G %n %s %l %TY-%Tm-%Td %TT\\n';
  const text = execFileSync('find', [root, '-mindepth', '1', '-printf', format], { encoding: 'utf8', env });
  // Sizes of directories are those of their own blocks, and Node writes microseconds.
  const lines = text.trimEnd().split('\n');
  return lines
    .map((line) => line.replace(/^(\S.* d .*) \d+ {2}/, '$1 - ').replace(/(\.\d{6})\d+$/, '$1'))
    .sort()
    .join('\n');
}

describe.skipIf(missing)('images and e2fsprogs', () => {
  test('mkfs is sound, and the same for the same options', async () => {
    const options = ['-O', 'uuid=6f3a1c52-0b7d-4e8a-9c11-2a5d7e9f0c34', '-O', 'label=mine', '--time', '1700000000'];
    for (const name of ['a', 'b']) {
      const { code, out } = await image('mkfs', `${folder}${name}`, '--fs', 'ext4', '--size', '20M', ...options);
      expect([code, out]).toEqual([0, `${folder}${name}: ext4, 20 MiB\n`]);
    }
    expect(complaints(`${folder}a`)).toBe('');
    expect(readFileSync(`${folder}a`).equals(readFileSync(`${folder}b`))).toBe(true);
    // Most of it is a hole.
    expect(statSync(`${folder}a`).blocks * 512).toBeLessThan(1e6);
    const header = execFileSync('dumpe2fs', ['-h', `${folder}a`], { env, encoding: 'utf8', stdio: 'pipe' });
    expect(header).toMatch(/volume name: +mine\n/);
    expect(header).toMatch(/UUID: +6f3a1c52-0b7d-4e8a-9c11-2a5d7e9f0c34\n/);
  });

  test.each([
    ['of its own', null],
    ['of mke2fs, 4 KiB blocks and all that is usual', ['-b', '4096']],
  ])('a tree goes into an image %s and comes back as it was', async (_, options) => {
    const [root, path, back] = ['tree', 'image', 'back'].map((name) => `${folder}${name}-${options === null}`);
    makeTree(root);
    if (options === null) await image('mkfs', path, '--fs', 'ext4', '--size', '32M');
    else mke2fs(path, '32M', ...options);
    const into = await image('cp', root, `${path}:/`);
    expect(into.err).toBe('');
    expect(into.out).toMatch(/^copied 3 files, 3 directories, 2 symbolic links, 1 hard link, 1 special file; /);
    expect(complaints(path)).toBe('');
    const name = root.slice(folder.length);
    // debugfs sees the same.
    const stat = debugfs(path, `stat "/${name}/d/ü b"`);
    expect(stat).toMatch(/Mode: {2}04751 .*\n.*\n.*Size: 5\n/s);
    execFileSync('debugfs', ['-R', `dump /${name}/d/hard ${folder}dumped`, path], { env, stdio: 'pipe' });
    expect(readFileSync(`${folder}dumped`).equals(readFileSync(`${root}/big`))).toBe(true);
    expect(debugfs(path, `stat /${name}/link`)).toContain('Fast link dest: "../d"');
    // The hole takes nothing: one block of 4 KiB.
    expect(debugfs(path, `stat /${name}/sparse`)).toMatch(/Size: 20000000\n.*\nLinks: 1 {3}Blockcount: 8\n/);
    expect((await image('cp', `${path}:/${name}`, back)).err).toBe('');
    expect(listing(back)).toBe(listing(root));
    for (const file of ['big', 'd/ü b', 'sparse']) {
      expect(readFileSync(`${back}/${file}`).equals(readFileSync(`${root}/${file}`))).toBe(true);
    }
    expect(statSync(`${back}/sparse`).blocks).toBeLessThan(64);
    expect(statSync(`${back}/big`).ino).toBe(statSync(`${back}/d/hard`).ino);
    // Again, over what is there: the same, and sound.
    expect((await image('cp', root, `${path}:/`)).code).toBe(0);
    expect(complaints(path)).toBe('');
  });

  test('from image to image, with extended attributes; block sizes and features that can only be read', async () => {
    const source = `${folder}small-blocks`;
    mke2fs(source, '8M', '-b', '1024', '-O', 'inline_data');
    writeFileSync(`${folder}script`, 'mkdir d\nea_set d user.note "some text"\nsymlink d/s target\n');
    execFileSync('debugfs', ['-w', '-f', `${folder}script`, source], { env, stdio: 'pipe' });
    execFileSync('debugfs', ['-w', '-R', `write ${script} d/file`, source], { env, stdio: 'pipe' });
    await image('mkfs', `${folder}target`, '--fs', 'ext4', '--size', '16M');
    expect((await image('cp', `${source}:/d`, `${folder}target:/copy`)).err).toBe('');
    expect(complaints(`${folder}target`)).toBe('');
    expect(debugfs(`${folder}target`, 'ea_get /copy user.note')).toContain('some text');
    const stat = await image('stat', `${folder}target:/copy`);
    expect(stat.out).toMatch(/user\.note +"some text"\n/);
    expect((await image('cat', `${folder}target:/copy/file`)).out).toBe(readFileSync(script, 'latin1'));
    const ls = await image('ls', `${folder}target:/copy`);
    expect(ls.out).toMatch(/lrwxrwxrwx .* s -> target\n/);
    // They are refused for writing, with the reason, and stay as they are.
    mke2fs(`${folder}inline`, '8M', '-b', '4096', '-O', 'inline_data');
    for (const [path, reason] of [
      [source, /blocks of 1024 bytes can only be read/],
      [`${folder}inline`, /cannot be written with inline_data/],
    ] as const) {
      const before = readFileSync(path);
      const refused = await image('cp', script, `${path}:/`);
      expect(refused.err.replaceAll(/\n +/g, ' ')).toMatch(reason);
      expect([refused.code, before.equals(readFileSync(path))]).toEqual([2, true]);
    }
  });

  test('dump says what dumpe2fs says', async () => {
    const path = `${folder}dumped-image`;
    mke2fs(path, '300M', '-b', '4096', '-L', 'label', '-m', '3');
    const found = JSON.parse((await image('dump', path, '--json')).out) as Record<string, never> & {
      groups: Record<string, number>[];
      features: string[];
    };
    const text = execFileSync('dumpe2fs', [path], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const said = (name: string): string => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(text)?.[1] ?? '';
    expect(found.uuid).toBe(said('Filesystem UUID'));
    expect([...found.features].sort()).toEqual(said('Filesystem features').split(' ').sort());
    for (const [key, name] of [
      ['blocks', 'Block count'],
      ['freeBlocks', 'Free blocks'],
      ['reservedBlocks', 'Reserved block count'],
      ['inodes', 'Inode count'],
      ['freeInodes', 'Free inodes'],
      ['blockBytes', 'Block size'],
      ['inodeBytes', 'Inode size'],
    ]) {
      expect([key, found[key]]).toEqual([key, Number(said(name))]);
    }
    const groups = [...text.matchAll(/^Group (\d+): .*?(\d+) free blocks, (\d+) free inodes, (\d+) directories/gms)];
    expect(found.groups.map((group) => [group.group, group.freeBlocks, group.freeInodes, group.usedDirs])).toEqual(
      groups.map((match) => match.slice(1).map(Number)),
    );
    const journal = await image('journal', path);
    expect(journal.out).toContain('nothing to replay');
  });

  test('fsck finds what e2fsck finds', async () => {
    const path = `${folder}damaged`;
    await image('mkfs', path, '--fs', 'ext4', '--size', '8M');
    await image('cp', script, `${path}:/`);
    expect((await image('fsck', path)).out).toBe(`✓ ${path}: the ext4 file system is sound.\n`);
    execFileSync('debugfs', ['-w', '-R', 'set_inode_field /flashstack.mjs links_count 3', path], {
      env,
      stdio: 'pipe',
    });
    const { code, out } = await image('fsck', path);
    expect(code).toBe(1);
    expect(out).toMatch(/1 problem in the ext4 file system\.\n {2}inode \d+: .*3/);
    expect(complaints(path)).toMatch(/Inode \d+ ref count is 3, should be 1/);
  });

  test('killed in the middle, the image is recovered by e2fsck and by us, and holds whole files', async () => {
    const [root, path] = [`${folder}many`, `${folder}killed`];
    mkdirSync(root);
    const contents = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, at) => (at * 31) >>> 3));
    for (let at = 0; at < 400; at++) writeFileSync(`${root}/${String(at).padStart(4, '0')}`, contents);
    await image('mkfs', path, '--fs', 'ext4', '--size', '192M');
    const before = statSync(path).blocks;
    const child = spawn(process.execPath, [script, 'image', 'cp', root, `${path}:/`, '--time', '1690000000'], {
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.on('close', (_code, signal) => resolve(signal)));
    // In the midst of the data, after the first of the regular syncs.
    const deadline = Date.now() + 30_000;
    while (statSync(path).blocks - before < 80 * 2048 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    const log = await image('journal', path);
    expect(log.out).toMatch(/transactions? to replay/);
    // Read as it is: replayed in memory, and the file unchanged.
    const raw = readFileSync(path);
    const listed = await image('ls', `${path}:/many`, '--json');
    expect(listed.err).toContain('journal replayed');
    expect((await image('fsck', path)).out).toContain('is sound once its journal is replayed');
    expect(readFileSync(path).equals(raw)).toBe(true);
    const files = JSON.parse(listed.out) as { name: string; size: number }[];
    expect(files.length).toBeGreaterThan(200);
    expect(files.length).toBeLessThan(400);
    expect((await image('cp', `${path}:/many`, `${folder}rescued`)).code).toBe(0);
    for (const { name } of files.slice(0, 200)) {
      expect(readFileSync(`${folder}rescued/${name}`).equals(contents), name).toBe(true);
    }
    // e2fsck replays the same journal and is content.
    const { status } = spawnSync('e2fsck', ['-fy', path], { env, encoding: 'utf8' });
    expect([0, 1]).toContain(status);
    expect(complaints(path)).toBe('');
    expect(debugfs(path, 'ls -p /many').trimEnd().split('\n').length - 2).toBe(files.length);
  });
});
