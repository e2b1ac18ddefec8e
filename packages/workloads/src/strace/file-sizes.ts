import { descriptorOf, numberOf } from './arguments.js';
import { EXITED, type SystemTrace, type TracedCall } from './system-trace.js';

/** What a trace shows of a file that it takes for granted. */
export interface ShownFile {
  readonly directory: boolean;
  /** Bytes, at least: what a query told, or as far as reads came. */
  readonly size: number;
}

/**
 * What the trace shows of the file that call `index` opens or queries: kind and size in the result of a query; after an
 * open, the queries and reads of its thread on that descriptor and its copies until all are closed.
 */
export function shownFile(trace: SystemTrace, index: number): ShownFile {
  const call = trace.calls[index];
  const text = call.arguments.join();
  if (/S_IF(?:REG|DIR)/.test(text)) return { directory: text.includes('S_IFDIR'), size: toldSize(call) };
  const directory = text.includes('O_DIRECTORY');
  const opens = /^(?:open|openat|creat)$/.test(call.name);
  return { directory, size: opens && !directory ? readSize(trace, index, call) : 0 };
}

function toldSize(call: TracedCall): number {
  const told = /st[x]?_size=(\d+)/.exec(call.arguments.join());
  return told === null ? 0 : Number(told[1]);
}

function readSize(trace: SystemTrace, index: number, opening: TracedCall): number {
  const copies = new Set([opening.result]);
  let size = 0;
  let cursor = 0;
  for (let i = index + 1; i < trace.calls.length && copies.size > 0; i++) {
    const call = trace.calls[i];
    if (call.pid !== opening.pid || call.error !== '' || call.name === 'mmap') continue;
    if (call.name === EXITED) break;
    const named = descriptorOf(call.arguments[0]);
    if (/^(?:dup|fcntl)/.test(call.name) && copies.has(named)) {
      if (call.name !== 'fcntl' || call.arguments[1]?.startsWith('F_DUPFD')) copies.add(call.result);
    } else if (call.name === 'close') {
      copies.delete(named);
    } else if (copies.has(named)) {
      if (/stat/.test(call.name)) return Math.max(size, toldSize(call));
      if (call.name === 'lseek') cursor = call.result;
      else if (/^readv?$/.test(call.name)) cursor += call.result;
      if (call.name.startsWith('pread')) size = Math.max(size, numberOf(call.arguments[3]) + call.result);
      else size = Math.max(size, cursor);
    }
  }
  return size;
}
