import { WholeFile } from '@flashstack/experiment/node';
import type { BlockRecordingFormat } from '@flashstack/workloads';
import { UsageError } from './report-error.js';

/** The format of a block trace by the name of its file. @throws UsageError if that does not tell. */
export function blockTraceFormat(path: string): BlockRecordingFormat {
  if (/\.blktrace(\.\d+)?$/.test(path)) return 'blktrace';
  if (/\.blkparse\.txt$/.test(path)) return 'blkparse';
  throw new UsageError(`--block-trace is "${path}": the name does not tell the format.`, [
    'End it with .blktrace.0 for binary records, which blkparse -i, btt and iowatcher read, or with .blkparse.txt for text.',
  ]);
}

/** Lets a run write a block trace into a file, which is there when the run has ended and not at all if it fails. */
export async function withBlockTrace<T>(
  path: string,
  run: (blockTrace: { format: BlockRecordingFormat; write: (bytes: Uint8Array) => void }) => Promise<T>,
): Promise<T> {
  const file = new WholeFile(path);
  try {
    const result = await run({ format: blockTraceFormat(path), write: (bytes) => file.write(bytes) });
    file.end();
    return result;
  } finally {
    file.drop();
  }
}
