import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fixtureUrl } from '@flashstack/fixtures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../src/cli.js';
import { FakeHost } from './fake-host.js';

const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };
let folder = '';
beforeAll(async () => {
  folder = `${mkdtempSync(`${tmpdir()}/flashstack-images-`)}/`;
  writeFileSync(`${folder}file`, 'contents\n');
  writeFileSync(`${folder}large`, new Uint8Array(12 << 20).fill(7));
  expect((await image('mkfs IMG --fs ext4 --size 8MiB')).code).toBe(0);
  expect((await image('cp DIRfile IMG:/')).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function image(args: string): Promise<{ code: number; out: string; err: string }> {
  const host = new FakeHost({ env: { LANG: 'C.UTF-8' } });
  const given = args.replaceAll('IMG', `${folder}img`).replaceAll('DIR', folder);
  const code = await runCli(['image', ...given.split(' ')], host, settings);
  // The folder's name is of any length, and lines break around it.
  const plain = (text: string): string => text.replaceAll(/\n +/g, ' ').replaceAll(folder, '');
  return { code, out: host.out.replaceAll(folder, ''), err: plain(host.err) };
}

describe('image', () => {
  test('contents, byte by byte', async () => {
    expect((await image('cat IMG:/file IMG:/file')).out).toBe('contents\ncontents\n');
    const { code, err } = await image('cp IMG:/file DIRcopy');
    expect([code, err, readFileSync(`${folder}copy`, 'utf8')]).toEqual([0, '', 'contents\n']);
  });

  test('a full file system: the error says so, what fitted is in it, and it is sound', async () => {
    const { code, err } = await image('cp DIRfile DIRlarge IMG:/lost+found');
    expect(err).toBe(
      'error: img: no space left on device. The file system is full. What was copied before is in it.\n',
    );
    expect(code).toBe(2);
    expect((await image('cat IMG:/lost+found/file')).out).toBe('contents\n');
    expect((await image('fsck IMG')).code).toBe(0);
  });

  test('an image that is cut short', async () => {
    await image('mkfs DIRshort --fs ext4 --size 8MiB');
    truncateSync(`${folder}short`, 1_000_000);
    const { code, err } = await image('tree DIRshort');
    expect(err).toContain('short: the image is truncated: it has 1000000 bytes, its ext4 8388608.');
    expect(code).toBe(2);
  });

  test.each([
    ['ls DIRfile', 'file: no file system is recognised in it. Its first 4 KiB hold no known superblock.'],
    ['ls DIRnowhere', 'nowhere: there is no such file.'],
    ['ls DIR', ': is a directory, expected an image file.'],
    ['ls IMG:/nowhere', 'img: no such file or directory: /nowhere.'],
    ['ls IMG:/file/x', 'img: not a directory: /file/x.'],
    ['cat IMG:/', 'img: is a directory: /.'],
    ['cp DIRfile DIRother', 'neither side is in an image'],
    ['cp IMG:/file IMG:/other', 'img: source and destination are in the same image.'],
    ['cp IMG:/file', 'cp needs a source and a destination: SRC… DST.'],
    ['cp DIRfile DIRlarge IMG:/new', 'several sources need a directory to go into.'],
    ['cp DIRfile IMG:/new/', 'there is no such directory.'],
    ['cp DIRfile IMG:/no/new', 'img: no such file or directory'],
    ['cp DIRnowhere IMG:/', 'nowhere: there is no such file.'],
    ['cp IMG:/lost+found DIRfile', 'file: is no directory, which a directory would replace'],
    ['mkfs IMG --fs ext4', 'img: the file is there already. --force makes a new file system in it'],
    ['mkfs DIRnew --fs ext4', '--size is needed for a new image'],
    ['mkfs DIRnew --fs ext4 --size 5000', '--size is "5000", expected whole blocks of 4 KiB.'],
    ['mkfs DIRnew --fs ext4 --size 8MB', '--size is "8MB", expected whole blocks of 4 KiB.'],
    ['mkfs DIRnew --fs etx4 --size 8MiB', 'Did you mean "ext4"?'],
    ['mkfs DIRnew --fs ext4 --size 8MiB -O labl=x', 'Did you mean "label"?'],
    ['mkfs DIRnew --fs ext4 --size 8MiB -O uuid=1', '-O uuid is "1", expected a UUID such as'],
    ['mkfs DIRnew --fs ext4 --size 8MiB -O ^has_journal', '-O is "^has_journal", expected name=value. Names: label,'],
    ['mkfs DIRnew --fs ext4 --size 8KiB', 'blocks is 2, expected an integer from 64'],
    ['mkfs DIRnew --fs ext4 --size 8MiB --time soon', '--time is "soon", expected whole seconds since 1970'],
  ])('%s: exit code 2 and what to do', async (args, text) => {
    const { code, out, err } = await image(args);
    expect(err).toContain(text);
    expect([code, out]).toEqual([2, '']);
    expect(err).not.toContain('defect');
    expect([existsSync(`${folder}new`), existsSync(`${folder}other`)]).toEqual([false, false]);
  });
});
