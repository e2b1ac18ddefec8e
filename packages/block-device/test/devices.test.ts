import { InputError, RandomSource, runTask, type SimulationError, Simulator, type Task } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BlockFlag,
  BlockOp,
  BlockRequest,
  BlockStatus,
  blockStatusName,
  expandTag,
  FaultDevice,
  IoBatch,
  MemoryDevice,
  Origin,
  OriginTable,
  PartitionDevice,
  RecordingDevice,
  RequestPool,
  submitAndWait,
  tagOfBytes,
} from '../src/index.js';

const full = process.env.CI !== undefined;
const { read, write, flush, discard } = BlockOp;

describe('tags', () => {
  it('expand to little-endian words and are recognised again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(512, 4096, 12 * 4), (tag, bytes) => {
        const target = new Uint8Array(bytes + 16).fill(0x77);
        expandTag(tag, target, 8, bytes);
        const view = new DataView(target.buffer);
        for (let at = 0; at < bytes; at += 4) expect(view.getUint32(8 + at, true)).toBe(tag);
        expect([target[7], target[8 + bytes]]).toEqual([0x77, 0x77]);
        expect(tagOfBytes(target, 8, bytes)).toBe(tag);
        target[8 + bytes - 1] ^= 1;
        expect(tagOfBytes(target, 8, bytes)).toBe(-1);
      }),
      { numRuns: full ? 1000 : 100 },
    );
  });
});

describe('memory device', () => {
  it('keeps bytes only where no tag stands for them, and reuses their room', () => {
    const simulator = new Simulator();
    const device = new MemoryDevice({ blockCount: 1000 });
    const plain = Uint8Array.from({ length: 4096 * 600 }, (_, at) => at % 251);
    submitAndWait(simulator, device, { op: write, block: 0, count: 600, data: plain });
    expect(device.blocksInBytes).toBe(600);
    submitAndWait(simulator, device, { op: discard, block: 100, count: 500 });
    expect(device.blocksInBytes).toBe(100);
    submitAndWait(simulator, device, { op: write, block: 0, count: 2, data: new Uint8Array(8192).fill(9) });
    expect(device.blocksInBytes).toBe(98);
  });

  it.each([
    [{ blockCount: 0 }, /blockCount must be an integer ≥ 1, found 0/],
    [{ blockCount: 1.5 }, /blockCount/],
    [{ blockCount: 8, blockBytes: 1000 }, /power of two from 512 to 65536, found 1000/],
    [{ blockCount: 8, blockBytes: 256 }, /power of two/],
  ])('refuses %j', (options, message) => {
    expect(() => new MemoryDevice(options)).toThrow(message);
  });
});

describe('batch', () => {
  it('can be used again, sends what is added later, and reports each status', () => {
    const simulator = new Simulator();
    const device = new FaultDevice(new MemoryDevice({ blockCount: 100 }), {
      simulator,
      latencyNs: 1000,
      rules: [{ firstBlock: 50, status: BlockStatus.mediaError }],
    });
    const batch = new IoBatch(device);
    const log: unknown[] = [];
    function* body(): Task<void> {
      batch.add(read, 0, 1);
      batch.start();
      expect(batch.inFlight).toBe(1);
      batch.add(read, 49, 4);
      yield batch;
      log.push(simulator.now, batch.size, batch.at(0).status, batch.at(1).status, batch.status);
      batch.add(read, 7, 1);
      expect(batch.status).toBe(0);
      yield batch;
      log.push(simulator.now, batch.size, batch.status);
      yield batch; // nothing added: satisfied at once
      log.push(simulator.now);
    }
    simulator.spawn('body', body());
    simulator.run();
    expect(log).toEqual([1000, 2, 0, BlockStatus.mediaError, BlockStatus.mediaError, 2000, 1, 0, 2000]);
  });

  it('is usable after a malformed request, and says in a stall what it waits for', () => {
    const simulator = new Simulator();
    const device = new MemoryDevice({ blockCount: 10 });
    const batch = new IoBatch(device);
    batch.add(read, 0, 1);
    batch.add(read, 10, 1);
    batch.add(read, 1, 1);
    expect(() => batch.start()).toThrow(/beyond the device of 10 blocks/);
    expect([batch.size, batch.inFlight]).toEqual([1, 0]);
    batch.add(read, 2, 1);
    batch.start();
    expect([batch.size, batch.inFlight, batch.at(0).block]).toEqual([1, 0, 2]);
    const silent = { blockBytes: 4096, blockCount: 10, features: device.features, submit() {} };
    const lost = new IoBatch(silent);
    function* body(): Task<void> {
      lost.add(write, 3, 2);
      yield lost;
    }
    let message = '';
    try {
      runTask(simulator, body());
    } catch (error) {
      expect((error as SimulationError).code).toBe('ERR_SIM_STALLED');
      message = (error as Error).message;
    }
    expect(message).toContain('I/O, 1 of 1 requests in flight');
    expect(message).toContain('3+2');
  });

  it('brackets its submission with plug and unplug', () => {
    const log: string[] = [];
    const inner = new MemoryDevice({ blockCount: 10 });
    const device = {
      blockBytes: 4096,
      blockCount: 10,
      features: inner.features,
      submit(request: BlockRequest) {
        log.push(`submit ${request.block}`);
        inner.submit(request);
      },
      plug: () => void log.push('plug'),
      unplug: () => void log.push('unplug'),
    };
    const batch = new IoBatch(new PartitionDevice(device, 2, 8));
    batch.add(read, 1, 1);
    batch.add(read, 3, 1);
    batch.start();
    expect(log).toEqual(['plug', 'submit 3', 'submit 5', 'unplug']);
    expect('plug' in inner).toBe(false);
    expect(new PartitionDevice(inner, 0, 1).plug).toBeUndefined();
  });

  it('a thousand batches of two processes on a device that takes no time are no livelock', () => {
    const simulator = new Simulator({ livelockResumptions: 100 });
    const device = new MemoryDevice({ blockCount: 10 });
    function* body(): Task<void> {
      const batch = new IoBatch(device);
      for (let at = 0; at < 1000; at++) {
        batch.add(write, at % 10, 1);
        yield batch;
      }
    }
    simulator.spawn('a', body());
    simulator.spawn('b', body());
    simulator.run();
    expect(simulator.processes.ended).toBe(2);
  });
});

describe('partition', () => {
  it('refuses ranges that are not within the device', () => {
    const device = new MemoryDevice({ blockCount: 100 });
    expect(() => new PartitionDevice(device, 90, 11)).toThrow(/90–100 is beyond the device of 100 blocks/);
    expect(() => new PartitionDevice(device, -1, 10)).toThrow(RangeError);
    expect(() => new PartitionDevice(device, 0, 0)).toThrow(RangeError);
  });

  it('moves blocks, and nothing else', () => {
    const simulator = new Simulator();
    const whole = new RecordingDevice(new MemoryDevice({ blockCount: 100 }));
    const part = new PartitionDevice(whole, 30, 10);
    submitAndWait(simulator, part, {
      op: write,
      block: 4,
      count: 2,
      origin: 3,
      stream: 5,
      flow: 6,
      flags: BlockFlag.sync,
    });
    submitAndWait(simulator, part, { op: flush });
    expect(whole.at(0)).toMatchObject({ op: write, block: 34, count: 2, origin: 3, stream: 5, flow: 6, flags: 4 });
    expect(whole.at(1)).toMatchObject({ op: flush, block: 0, count: 0 });
  });
});

describe('recording', () => {
  it('writes down order, times, status and contents', () => {
    const simulator = new Simulator();
    const slow = new FaultDevice(new MemoryDevice({ blockCount: 100 }), {
      simulator,
      rules: [
        { ops: [write], firstBlock: 1, latencyNs: 500 },
        { ops: [read], status: BlockStatus.ioError, latencyNs: 100 },
      ],
    });
    const device = new RecordingDevice(slow, { simulator, contents: true });
    const batch = new IoBatch(device);
    const data = new Uint8Array(4096).fill(3);
    batch.add(write, 1, 1).data = data;
    batch.add(write, 2, 1).tags = new Uint32Array([7]);
    batch.add(read, 2, 1);
    batch.start();
    data.fill(0);
    expect(device.inFlight).toBe(2);
    simulator.drain();
    expect(device.length).toBe(3);
    expect(device.at(0)).toMatchObject({ issueOrder: 1, doneOrder: 6, issuedNs: 0, doneNs: 500, status: 0 });
    expect(device.at(0).data?.every((byte) => byte === 3)).toBe(true);
    expect(device.at(1)).toMatchObject({ issueOrder: 2, doneOrder: 3, doneNs: 0, data: null });
    expect([...(device.at(1).tags ?? [])]).toEqual([7]);
    expect(device.at(2)).toMatchObject({ issueOrder: 4, doneOrder: 5, doneNs: 100, status: BlockStatus.ioError });
    expect(() => device.at(3)).toThrow(/3 requests are recorded/);
    device.clear();
    expect(device.length).toBe(0);
  });

  it('keeps thousands of records, with a hundred in flight', () => {
    const simulator = new Simulator();
    const device = new RecordingDevice(
      new FaultDevice(new MemoryDevice({ blockCount: 1000 }), { simulator, rules: [], latencyNs: 10 }),
      { simulator },
    );
    for (let round = 0; round < 30; round++) {
      const batch = new IoBatch(device);
      for (let at = 0; at < 100; at++) batch.add(write, (round * 7 + at) % 1000, 1);
      batch.start();
      simulator.drain();
    }
    expect(device.length).toBe(3000);
    for (let at = 0; at < 3000; at++) {
      const round = Math.floor(at / 100);
      expect(device.at(at)).toMatchObject({
        block: (round * 7 + (at % 100)) % 1000,
        issuedNs: round * 10,
        doneNs: (round + 1) * 10,
      });
    }
    expect(device.inFlight).toBe(0);
  });
});

describe('fault injection', () => {
  const run = (rule: ConstructorParameters<typeof FaultDevice>[1]['rules'][number], seed = 1): number[] => {
    const random = new RandomSource(seed).stream('faults');
    const device = new FaultDevice(new MemoryDevice({ blockCount: 100 }), { rules: [rule], random });
    const simulator = new Simulator();
    const statuses: number[] = [];
    for (let at = 0; at < 100; at++)
      statuses.push(submitAndWait(simulator, device, { op: write, block: at, count: 1 }));
    expect(statuses.filter((status) => status !== 0).length).toBe(device.strikes[0]);
    return statuses;
  };
  const struck = (statuses: number[]): number[] => statuses.flatMap((status, at) => (status === 0 ? [] : [at]));

  it('by range', () => {
    expect(struck(run({ firstBlock: 10, blockCount: 3 }))).toEqual([10, 11, 12]);
    expect(struck(run({ firstBlock: 99 }))).toEqual([99]);
    expect(struck(run({ ops: [read] }))).toEqual([]);
  });

  it('by count', () => {
    expect(struck(run({ skip: 5, times: 2 }))).toEqual([5, 6]);
    expect(struck(run({ firstBlock: 20, blockCount: 20, skip: 18 }))).toEqual([38, 39]);
  });

  it('by probability, the same for the same seed', () => {
    const counts = Array.from({ length: 40 }, (_, seed) => struck(run({ probability: 0.25 }, seed)).length);
    const total = counts.reduce((sum, count) => sum + count, 0);
    // 4,000 draws at 0.25: mean 1000, standard deviation 27.4.
    expect(Math.abs(total - 1000)).toBeLessThan(4 * 27.4);
    expect(run({ probability: 0.25 }, 7)).toEqual(run({ probability: 0.25 }, 7));
    expect(struck(run({ probability: 0 }))).toEqual([]);
  });

  it('a failed write changes nothing, unless it is carried out and only answered falsely', () => {
    const simulator = new Simulator();
    for (const carriedOut of [false, true]) {
      const inner = new MemoryDevice({ blockCount: 10 });
      const device = new FaultDevice(inner, { rules: [{ ops: [write], carriedOut }] });
      const data = new Uint8Array(4096).fill(8);
      expect(submitAndWait(simulator, device, { op: write, block: 0, count: 1, data })).toBe(BlockStatus.ioError);
      const tags = new Uint32Array(1);
      submitAndWait(simulator, inner, { op: read, block: 0, count: 1, tags });
      expect(tags[0]).toBe(carriedOut ? 0x0808_0808 : 0);
    }
  });

  it('refuses rules that make no sense', () => {
    const device = new MemoryDevice({ blockCount: 10 });
    const make = (rule: object) => () => new FaultDevice(device, { rules: [rule] });
    expect(make({ probability: 0.5 })).toThrow(/needs a random stream/);
    expect(make({ probability: 2 })).toThrow(InputError);
    expect(make({ latencyNs: 10 })).toThrow(/needs a simulator/);
    expect(make({ latencyNs: -1 })).toThrow(/expected an integer ≥ 0/);
    expect(make({ firstBlock: 9, blockCount: 2 })).toThrow(/beyond the device of 10/);
    expect(make({ skip: -1 })).toThrow(/skip is -1/);
  });
});

describe('pool, origins, names', () => {
  it('the pool clears what it takes back', () => {
    const pool = new RequestPool({ ioDone() {} });
    const request = pool.take();
    Object.assign(request, { op: write, block: 3, count: 2, flags: 1, data: new Uint8Array(1), cookie: 5, status: 2 });
    expect(pool.inUse).toBe(1);
    pool.give(request);
    expect(pool.inUse).toBe(0);
    const again = pool.take();
    expect(again).toBe(request);
    expect(again).toEqual(new BlockRequest(request.owner));
  });

  it('origins: fixed names, own ones from 32 on, the same number for the same name', () => {
    const table = new OriginTable();
    expect(table.nameOf(Origin.journal)).toBe('journal');
    expect(table.define('journal')).toBe(Origin.journal);
    expect([table.define('wal'), table.define('sstable'), table.define('wal')]).toEqual([32, 33, 32]);
    expect([table.nameOf(33), table.nameOf(77)]).toEqual(['sstable', 'origin 77']);
    expect(() => table.define('')).toThrow(InputError);
    for (let at = 34; at < 256; at++) expect(table.define(`o${at}`)).toBe(at);
    expect(() => table.define('one more')).toThrow(/no number is left/);
    const fixed = Object.values(Origin);
    expect(new Set(fixed).size).toBe(fixed.length);
    expect(Math.max(...fixed)).toBeLessThan(32);
  });

  it('statuses have names', () => {
    expect([blockStatusName(0), blockStatusName(2), blockStatusName(99)]).toEqual(['ok', 'mediaError', 'status 99']);
  });
});
