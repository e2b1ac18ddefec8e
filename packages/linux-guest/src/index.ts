import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const qemu = '/usr/bin/qemu-system-x86_64';
const build = fileURLToPath(new URL('../build.sh', import.meta.url));

/** A disk of the guest: a file with its bytes. */
export interface GuestDisk {
  readonly path: string;
  readonly readOnly?: boolean;
}

/** What the guest is booted for. */
export interface GuestRun {
  /** Commands for bash, as root. `$DISK0`, `$DISK1`, … are the disks, `/share` the shared folder, `/mnt/a` is empty. */
  readonly script: string;
  readonly disks?: readonly GuestDisk[];
  /** A folder of this machine that the guest reads and writes. */
  readonly share?: string;
  /** Seconds until the guest is given up. Default 300. */
  readonly limitSeconds?: number;
  /** MiB of memory. Default 768. */
  readonly memoryMiB?: number;
}

/** What became of it. */
export interface GuestResult {
  /** Of the script. */
  readonly status: number;
  /** What the script wrote to its standard output and error. */
  readonly output: string;
}

function cacheFolder(): string {
  const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return process.env.FLASHSTACK_GUEST_CACHE ?? join(caches, 'flashstack', 'linux-guest');
}

function isBuilt(): boolean {
  try {
    execFileSync(build, ['--check'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether tests in the guest have to be skipped, which is said on stderr with what nobody checks then. An error with `CI`
 * set: there, nothing is skipped.
 */
export function guestMissing(unchecked: string): boolean {
  const message = !existsSync(qemu)
    ? `${qemu} is missing (Debian package qemu-system-x86): ${unchecked}`
    : !isBuilt()
      ? `the Linux guest is not built (packages/linux-guest/build.sh): ${unchecked}`
      : '';
  if (message === '') return false;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
  return true;
}

/** The same processor on every machine, emulated; no device that the guest does not need. */
function argumentsFor(run: GuestRun, control: string, kernelLog: string): string[] {
  const cache = cacheFolder();
  const list = [
    ...['-accel', 'tcg', '-M', 'pc', '-cpu', 'max', '-m', String(run.memoryMiB ?? 768), '-smp', '1'],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-kernel', join(cache, 'vmlinux'), '-initrd', join(cache, 'initrd.gz'), '-append'],
    'console=ttyS0 quiet loglevel=5 panic=-1 nokaslr mitigations=off tsc=reliable no_timer_check random.trust_cpu=on',
    ...['-chardev', `file,id=log,path=${kernelLog}`, '-serial', 'chardev:log'],
    ...['-chardev', 'stdio,id=out,signal=off', '-serial', 'chardev:out'],
  ];
  const disk = (id: string, { path, readOnly }: GuestDisk): void => {
    const file = `file.driver=file,file.filename=${resolve(path)},file.locking=off,discard=unmap`;
    list.push('-blockdev', `driver=raw,node-name=${id},${file},read-only=${readOnly ? 'on' : 'off'}`);
    list.push('-device', `virtio-blk-pci,drive=${id},serial=${id}`);
  };
  const folder = (tag: string, path: string): void => {
    list.push('-fsdev', `local,id=${tag},path=${resolve(path)},security_model=none,multidevs=remap`);
    list.push('-device', `virtio-9p-pci,fsdev=${tag},mount_tag=${tag}`);
  };
  disk('root', { path: join(cache, 'root.img'), readOnly: true });
  run.disks?.forEach((each, index) => {
    disk(`disk${index}`, each);
  });
  folder('control', control);
  if (run.share !== undefined) folder('share', run.share);
  return list;
}

/** Output and end of QEMU; killed with this process, and at the time limit. */
function execute(list: readonly string[], limitSeconds: number): Promise<{ output: string; late: boolean }> {
  return new Promise((done, failed) => {
    const child = spawn(qemu, list, { stdio: ['ignore', 'pipe', 'pipe'] });
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    const chunks: Buffer[] = [];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      kill();
    }, limitSeconds * 1000);
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', failed);
    child.on('close', () => {
      clearTimeout(timer);
      process.off('exit', kill);
      done({ output: Buffer.concat(chunks).toString('utf8'), late });
    });
  });
}

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'latin1') : '');

/**
 * Boots the guest, runs a script in it and powers it off: 5 s of processor time and more.
 * @throws Error with the end of the kernel's log, if the guest died or reached the time limit.
 */
export async function runGuest(run: GuestRun): Promise<GuestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'flashstack-guest-'));
  try {
    const control = join(folder, 'control');
    const kernelLog = join(folder, 'kernel.log');
    mkdirSync(control);
    writeFileSync(join(control, 'script'), run.script);
    if (run.share !== undefined) writeFileSync(join(control, 'has-share'), '');
    const limit = run.limitSeconds ?? 300;
    const { output, late } = await execute(argumentsFor(run, control, kernelLog), limit);
    const status = textOf(join(control, 'status')).trim();
    if (status === '') {
      const end = textOf(kernelLog).split('\n').slice(-25).join('\n');
      throw new Error(`the guest ${late ? `was not done after ${limit} s` : 'died'}\n${output}\n${end}`);
    }
    return { status: Number(status), output };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
