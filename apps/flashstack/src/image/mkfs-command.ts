import { closeSync, existsSync, ftruncateSync, openSync, statSync, unlinkSync } from 'node:fs';
import type { BlockDevice } from '@flashstack/block-device';
import { ImageFileDevice } from '@flashstack/block-device/node';
import { amountAdvice, parseAmount } from '@flashstack/experiment';
import {
  lookupStrategy,
  type ParameterTable,
  type ParameterValues,
  resolveParameters,
  runTask,
  Simulator,
  type Task,
} from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { UsageError } from '../report-error.js';
import type { Session } from '../session.js';
import { imageKinds } from './kinds.js';
import { demandUnused, fileError, WRITE_BLOCK } from './open-image.js';
import { imageTime } from './time.js';

/** Flags of `image mkfs`. */
export interface MkfsFlags {
  readonly fs: string;
  readonly size?: string;
  readonly option?: readonly string[];
  readonly time?: string;
  readonly force?: boolean;
}

/** `image mkfs`: a new file system, in a new file or over an old one. */
export function runImageMkfs(path: string, flags: MkfsFlags, session: Session): void {
  const kind = lookupStrategy(
    imageKinds.map(({ name, summary, options }) => ({ name, summary, parameters: options, create: () => null })),
    flags.fs,
    'file system',
  );
  const row = imageKinds.find(({ name }) => name === kind.name) as (typeof imageKinds)[number];
  const given = parseOptions(flags.option ?? [], row.options);
  const options = resolveParameters({ name: `mkfs of ${row.name}`, parameters: row.options }, given);
  const timeSec = imageTime(flags.time, session);
  const bytes = sizeOf(path, flags);
  const isNew = !existsSync(path);
  emptyFile(path, bytes);
  try {
    fill(path, (device) => row.make(device, options, timeSec, (count) => session.host.randomBytes(count)));
  } catch (error) {
    // Nothing half-made stays where nothing was.
    if (isNew) unlinkSync(path);
    throw error;
  }
  const { style } = session;
  session.print(`${path}: ${row.name}, ${style.numbers.bytes(bytes)}\n`);
}

/** @throws InputError for options that do not fit, HostError */
function fill(path: string, make: (device: BlockDevice) => Task<void>): void {
  const device = new ImageFileDevice(path, { blockBytes: WRITE_BLOCK });
  try {
    runTask(new Simulator(), make(device));
  } catch (error) {
    throw error instanceof FsError && device.lastError !== null ? fileError(path, device.lastError) : error;
  } finally {
    device.close();
  }
}

/** Values of `-O name=value`; those of texts are taken as they are. @throws UsageError */
function parseOptions(texts: readonly string[], table: ParameterTable): ParameterValues {
  const values: Record<string, string | number> = {};
  for (const text of texts) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined) {
      throw new UsageError(`-O is "${text}", expected name=value.`, [
        `Names: ${table.map((row) => row.name).join(', ')}.`,
      ]);
    }
    const isText = table.find((row) => row.name === name)?.type === 'string';
    values[name] = isText || value === '' || Number.isNaN(Number(value)) ? value : Number(value);
  }
  return values;
}

/** Bytes of the image: what `--size` says, or what an old file has. @throws UsageError */
function sizeOf(path: string, { size, force }: MkfsFlags): number {
  const old = existsSync(path) ? statSync(path) : null;
  if (old !== null && !old.isFile()) throw new UsageError(`${path}: is no regular file.`);
  if (old !== null && old.size > 0 && force !== true) {
    throw new UsageError(`${path}: the file is there already.`, [
      '--force makes a new file system in it; what it holds is lost.',
    ]);
  }
  if (size === undefined) {
    if (old === null || old.size < WRITE_BLOCK)
      throw new UsageError('--size is needed for a new image, such as --size 256MiB.');
    return old.size - (old.size % WRITE_BLOCK);
  }
  const bytes = parseAmount('size', size);
  if (!Number.isSafeInteger(bytes) || bytes < WRITE_BLOCK || bytes % WRITE_BLOCK !== 0) {
    throw new UsageError(`--size is "${size}", expected whole blocks of 4 KiB.`, [amountAdvice('size', size)]);
  }
  return bytes;
}

/** The file with so many bytes, all of them a hole. @throws UsageError, HostError */
function emptyFile(path: string, bytes: number): void {
  try {
    if (existsSync(path)) demandUnused(path);
    const descriptor = openSync(path, 'w');
    try {
      ftruncateSync(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw fileError(path, error);
  }
}
