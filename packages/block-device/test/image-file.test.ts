import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type InputError, Simulator } from '@flashstack/sim';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlockOp, BlockStatus, submitAndWait } from '../src/index.js';
import { ImageFileDevice } from '../src/node/index.js';

const { read, write, flush, discard, writeZeroes } = BlockOp;
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flashstack-image-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('image file', () => {
  it('holds exactly the bytes that were written, tags expanded', () => {
    const path = join(folder, 'image');
    const simulator = new Simulator();
    const device = new ImageFileDevice(path, { blockBytes: 512, blockCount: 8, create: true });
    submitAndWait(simulator, device, { op: write, block: 1, count: 1, data: new Uint8Array(512).fill(7) });
    submitAndWait(simulator, device, { op: write, block: 3, count: 1, tags: new Uint32Array([0x0403_0201]) });
    submitAndWait(simulator, device, { op: flush });
    device.close();
    const expected = new Uint8Array(4096);
    expected.fill(7, 512, 1024);
    for (let at = 1536; at < 2048; at++) expected[at] = (at % 4) + 1;
    expect(new Uint8Array(readFileSync(path))).toEqual(expected);
    const again = new ImageFileDevice(path, { blockBytes: 512 });
    expect(again.blockCount).toBe(8);
    const tags = new Uint32Array(4);
    expect(submitAndWait(simulator, again, { op: read, block: 0, count: 4, tags })).toBe(0);
    expect([...tags]).toEqual([0, 0x0707_0707, 0, 0x0403_0201]);
    again.close();
  });

  it('is sparse, stays sparse when zeroes are written, and gives room back at its end', () => {
    const path = join(folder, 'image');
    const simulator = new Simulator();
    const device = new ImageFileDevice(path, { blockCount: 1 << 18, create: true }); // 1 GiB
    const usedBytes = (): number => statSync(path).blocks * 512;
    expect(statSync(path).size).toBe(2 ** 30);
    expect(usedBytes()).toBeLessThan(1 << 20);
    submitAndWait(simulator, device, { op: write, block: 0, count: 1, data: new Uint8Array(4096).fill(1) });
    submitAndWait(simulator, device, { op: write, block: 1000, count: 512, data: new Uint8Array(1 << 21).fill(1) });
    submitAndWait(simulator, device, { op: write, block: 5000, count: 60000 });
    submitAndWait(simulator, device, { op: writeZeroes, block: 1, count: 900 });
    expect(usedBytes()).toBeGreaterThanOrEqual(1 << 21);
    expect(usedBytes()).toBeLessThan(1 << 22);
    submitAndWait(simulator, device, { op: discard, block: 500, count: 200_000 });
    expect(usedBytes()).toBeLessThan(1 << 20);
    expect(statSync(path).size).toBe(2 ** 30);
    device.close();
  });

  it('can be read only', () => {
    const path = join(folder, 'image');
    writeFileSync(path, new Uint8Array(8192).fill(4));
    const simulator = new Simulator();
    const device = new ImageFileDevice(path, { readOnly: true });
    expect(device.blockCount).toBe(2);
    expect(submitAndWait(simulator, device, { op: write, block: 0, count: 1 })).toBe(BlockStatus.readOnly);
    expect(submitAndWait(simulator, device, { op: flush })).toBe(0);
    const data = new Uint8Array(8192);
    expect(submitAndWait(simulator, device, { op: read, block: 0, count: 2, data })).toBe(0);
    expect(data.every((byte) => byte === 4)).toBe(true);
    device.close();
  });

  it('reports failures of the operating system as a status, and keeps the reason', () => {
    const simulator = new Simulator();
    const device = new ImageFileDevice(join(folder, 'image'), { blockCount: 8, create: true });
    device.close();
    expect(submitAndWait(simulator, device, { op: write, block: 0, count: 1, tags: new Uint32Array([5]) })).toBe(
      BlockStatus.ioError,
    );
    expect(String(device.lastError)).toMatch(/EBADF|bad file descriptor/);
    const shrunk = new ImageFileDevice(join(folder, 'shrunk'), { blockCount: 8, create: true });
    writeFileSync(join(folder, 'shrunk'), '');
    const status = submitAndWait(simulator, shrunk, { op: read, block: 0, count: 1, data: new Uint8Array(4096) });
    expect(status).toBe(BlockStatus.ioError);
    expect(String(shrunk.lastError)).toContain('the image file ends at byte 0');
    shrunk.close();
  });

  it('says clearly why a file cannot be opened', () => {
    const codeOf = (action: () => unknown): string => {
      try {
        action();
      } catch (error) {
        return `${(error as InputError).code} ${(error as Error).message}`;
      }
      return 'nothing was thrown';
    };
    expect(codeOf(() => new ImageFileDevice(join(folder, 'none')))).toMatch(/^ERR_IMAGE_MISSING .*none does not exist/);
    expect(codeOf(() => new ImageFileDevice(folder))).toMatch(/^ERR_IMAGE_OPEN .*EISDIR/);
    writeFileSync(join(folder, 'short'), 'abc');
    expect(codeOf(() => new ImageFileDevice(join(folder, 'short')))).toMatch(/^ERR_IMAGE_SIZE .*holds 3 bytes/);
    const tooShort = { readOnly: true, blockCount: 2 };
    expect(codeOf(() => new ImageFileDevice(join(folder, 'short'), tooShort))).toMatch(/^ERR_IMAGE_SIZE/);
  });
});
