import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Compression } from '../compression.js';
import { type ConversionReport, type ConvertTraceOptions, convertTrace } from '../convert-trace.js';
import type { TraceFormat } from '../formats/format.js';
import { traceFormats } from '../formats/table.js';
import { TraceError, TraceErrorCode } from '../trace-error.js';
import { fileChunks, reasonOf } from './files.js';

/** As {@link ConvertTraceOptions}; format and packing may also be told by the name of the file written. */
export interface ConvertFileOptions extends Omit<ConvertTraceOptions, 'to'> {
  /** The format to write. Default: by the ending of the file (`.msr.csv`, `.iolog`, …). */
  readonly to?: string | TraceFormat;
}

/**
 * Converts a trace file. The file appears under its name only when it is whole; what is there and is no file, such as a
 * pipe or `/dev/stdout`, is written to as it is. Endings `.gz` and `.zst` pack it. Throws TraceError.
 */
export async function convertFile(
  from: string,
  to: string,
  options: ConvertFileOptions = {},
): Promise<ConversionReport> {
  const format = options.to ?? formatOf(to, options.formats ?? traceFormats);
  const pack = options.pack ?? packingOf(to);
  // A rename would put a file in the place of the device. The number: TO.part may be a file of the user, even FROM.
  const part = (await isNoFile(to)) ? to : `${to}.${process.pid}.part`;
  const handle = await open(part, 'w').catch((error: unknown) => {
    throw unwritable(to, error);
  });
  try {
    const report = await convertTrace(fileChunks(from), from, { ...options, to: format, pack }, (bytes) =>
      writeAll(handle, bytes, to),
    );
    await handle.close();
    if (part === to) return report;
    await rename(part, to).catch((error: unknown) => {
      throw unwritable(to, error);
    });
    return report;
  } catch (error) {
    await handle.close();
    if (part !== to) await unlink(part).catch(() => undefined);
    throw error;
  }
}

async function isNoFile(path: string): Promise<boolean> {
  const there = await stat(path).catch(() => null);
  if (there === null || there.isDirectory()) return false;
  // `/dev/stdout` may lead to a file, and has to go on leading there.
  return !there.isFile() || /^\/(?:dev|proc)\//.test(resolve(path));
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, file: string): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
  } catch (error) {
    throw unwritable(file, error);
  }
}

function packingOf(file: string): Compression {
  if (/\.gz$/i.test(file)) return 'gzip';
  return /\.zst$/i.test(file) ? 'zstd' : 'none';
}

function formatOf(file: string, formats: readonly TraceFormat[]): TraceFormat {
  const name = file.replace(/\.(gz|zst)$/i, '').toLowerCase();
  const found = formats.filter((format) => name.endsWith(format.extension));
  if (found.length === 1) return found[0];
  const endings = formats.filter((format) => format.writer !== undefined).map((format) => format.extension);
  throw new TraceError(TraceErrorCode.format, `${file}: the name does not tell the format to write`, [
    `Name the format, or end the name with one of ${endings.join(', ')}.`,
  ]);
}

function unwritable(file: string, error: unknown): TraceError {
  return new TraceError(TraceErrorCode.write, `${file}: cannot be written: ${reasonOf(error)}`);
}
