import { type Crc, pureCodecs } from '../src/index.js';
import { nodeCodecs } from '../src/node/index.js';

/** What the runner of the project times: `run` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
}

const block: Uint8Array = Uint8Array.from({ length: 4096 }, (_, at) => (at * 31) & 0xff);
const changed: Uint8Array = block.slice().fill(9, 1000, 1032);
const pure = pureCodecs();
const native = nodeCodecs();

function whole(name: string, crc: Crc): Benchmark {
  return {
    name: `${name}, 4 KiB block`,
    n: 100_000,
    run(n) {
      let register = 0;
      for (let i = 0; i < n; i++) register = crc.update(register, block);
      if (register < 0) throw new Error('a checksum is not negative');
    },
  };
}

export const benchmarks: readonly Benchmark[] = [
  whole('CRC-32C', pure.crc32c),
  whole('CRC-32', pure.crc32),
  whole('CRC-16', pure.crc16),
  whole(`CRC-32 of ./node (native: ${native.accelerated.join(', ') || 'none'})`, native.crc32),
  {
    name: 'CRC-32C, zero tail of a 100-byte record in 4 KiB',
    n: 1_000_000,
    run(n) {
      let register = 1;
      for (let i = 0; i < n; i++) register = pure.crc32c.zeroTail(register, 3996);
      if (register < 0) throw new Error('a checksum is not negative');
    },
  },
  {
    name: 'CRC-32C, delta of 32 bytes in 4 KiB',
    n: 1_000_000,
    run(n) {
      let checksum = 1;
      for (let i = 0; i < n; i++) checksum = pure.crc32c.delta(checksum, block, 1000, changed, 1000, 32, 3064);
      if (checksum < 0) throw new Error('a checksum is not negative');
    },
  },
];
