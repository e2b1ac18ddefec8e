import { BlockOp } from '@flashstack/block-device';
import { Operation, TraceEncoder, type TraceFormat, TraceParser, traceFormats } from '../src/index.js';
import type { Benchmark } from './workloads.bench.js';

const LINES = 100_000;
const CHUNK = 65536;

/** A trace of the format: lines as long as published ones, or what its writer makes of binary ones. */
function sample(format: TraceFormat): Uint8Array {
  if (format.kind === 'binary') return binary(format);
  const parts: string[] = [];
  for (let i = 0; i < LINES; i++) parts.push(line(format.name, i));
  return new TextEncoder().encode(header(format.name) + parts.join(''));
}

function header(name: string): string {
  if (name === 'fio-iolog') return 'fio version 3 iolog\n0 dev add\n0 dev open\n';
  return name === 'systor17' ? 'Timestamp,Response,IOType,LUN,Offset,Size\n' : '';
}

function binary(format: TraceFormat): Uint8Array {
  const encoder = new TraceEncoder(format);
  const operation = new Operation();
  for (let i = 0; i < LINES; i++) {
    operation.op = i % 3 === 0 ? BlockOp.read : BlockOp.write;
    operation.timeNs = i * 137_000;
    operation.offsetBytes = ((i * 7919) % 1_000_003) * 4096;
    operation.lengthBytes = (1 + (i % 16)) * 4096;
    encoder.add(operation);
  }
  return encoder.take();
}

/** Lines as long as those of the published traces. */
function line(name: string, i: number): string {
  const sector = ((i * 2654435761) % 976773168) & ~7;
  const bytes = (1 + (i % 16)) * 4096;
  const read = i % 3 === 0;
  const us = i * 137;
  const seconds = `${1456300000 + Math.floor(us / 1e6)}.${String(us % 1e6).padStart(6, '0')}000`;
  switch (name) {
    case 'msr':
      return `${128166372003061629n + BigInt(us) * 10n},web,0,${read ? 'Read' : 'Write'},${sector * 512},${bytes},41286\n`;
    case 'systor17':
      return `${seconds},0.001208,${read ? 'R' : 'W'},${i % 6},${sector * 512},${bytes}\n`;
    case 'alibaba':
      return `${i % 1000},${read ? 'R' : 'W'},${sector * 512},${bytes},${1577808000000000 + us}\n`;
    case 'tencent':
      return `${1538323200 + Math.floor(us / 1e6)},${sector},${bytes / 512},${read ? 0 : 1},${1000 + (i % 5000)}\n`;
    case 'spc':
      return `${i % 6},${sector},${bytes},${read ? 'r' : 'w'},${(us / 1e6).toFixed(6)}\n`;
    case 'hfplayer':
      return `${(us / 1e3).toFixed(3)},0,${sector * 512},${bytes},${read ? 1 : 0}\n`;
    case 'disksim':
      return `${(us / 1e3).toFixed(6)} 0 ${sector} ${bytes / 512} ${read ? 1 : 0}\n`;
    case 'mqsim':
      return `${us * 1000} 0 ${sector} ${bytes / 512} ${read ? 1 : 0}\n`;
    case 'fio-iolog':
      return `${us} dev ${read ? 'read' : 'write'} ${sector * 512} ${bytes}\n`;
    case 'fiu':
      return `${us * 1000} 4892 syslogd ${sector} 8 ${read ? 'R' : 'W'} 6 0 531e779${'0'.repeat(25)}\n`;
    case 'blkparse':
      return `  8,0    ${i % 4}   ${String(i).padStart(6)} ${(us / 1e6).toFixed(9).padStart(14)}  4892  D  ${read ? 'R' : 'WS'} ${sector} + ${bytes / 512} [fio]\n`;
    default:
      throw new Error(`no sample for ${name}`);
  }
}

function parse(format: TraceFormat, bytes: Uint8Array, n: number): void {
  let operations = 0;
  let sum = 0;
  const sink = {
    add(operation: { lengthBytes: number; op: number }): void {
      sum += operation.op === BlockOp.read ? operation.lengthBytes : 1;
    },
  };
  while (operations < n) {
    const parser = new TraceParser('bench', { format }, sink);
    for (let at = 0; at < bytes.length; at += CHUNK) parser.push(bytes.subarray(at, at + CHUNK));
    parser.end();
    operations += parser.operations;
  }
  if (sum === 0) throw new Error('nothing was read');
}

/** One process: all formats run through the same code, as they do for a user who reads several. */
export const benchmarks: readonly Benchmark[] = traceFormats
  .filter((format) => format.kind === 'text' || format.writer !== undefined)
  .map((format) => {
    let bytes: Uint8Array = new Uint8Array(0);
    return {
      name: `${format.name} ${format.kind === 'text' ? 'lines' : 'records'}`,
      setup: () => {
        bytes = sample(format);
      },
      run: (n: number) => parse(format, bytes, n),
      teardown: () => {
        bytes = new Uint8Array(0);
      },
      n: 500_000,
      // The formats that are CSV; the others must not be far behind.
      bar: 1.5e6,
    };
  });
