import { BlockOp, submitAndWait } from '@flashstack/block-device';
import { BaseImage, CrashDevice } from '@flashstack/block-device/crash';
import { InputError, runTask, Simulator } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { RecordedRun } from '../src/index.js';

const data = new Uint8Array(8192).map((_, at) => (at < 4096 ? 1 : 2));
const lines = [
  '{"i":0,"op":"W","off":4096,"len":8192,"fua":0,"d":[[4096,4096],[0,4096]]}',
  '{"i":1,"op":"M","text":"B 0"}',
  '{"i":2,"op":"F"}',
  '{"i":3,"op":"W","off":0,"len":4096,"fua":1,"d":[[0,4096]]}',
  '{"i":4,"op":"M","text":"A 0"}',
  '{"i":5,"op":"T","off":8192,"len":4096}',
];

function opened(blocks = 4): { simulator: Simulator; device: CrashDevice } {
  return { simulator: new Simulator(), device: new CrashDevice(BaseImage.blank(blocks)) };
}

test('a recorded run becomes the record of a device, with marks at their places', () => {
  const { simulator, device } = opened();
  const run = new RecordedRun(`${lines.join('\n')}\n`, data);
  expect(run.length).toBe(6);
  const marks = runTask(simulator, run.replay(device));
  expect(Array.from({ length: device.length }, (_, row) => device.at(row).op)).toEqual([
    BlockOp.write,
    BlockOp.flush,
    BlockOp.write,
    BlockOp.discard,
  ]);
  expect(marks.map(({ text }) => text)).toEqual(['B 0', 'A 0']);
  const [before, after] = marks.map(({ position }) => position);
  expect(device.at(0).done).toBeLessThan(before);
  expect(device.at(1).issued).toBeGreaterThan(before);
  expect(device.at(2).done).toBeLessThan(after);
  expect(device.at(3).issued).toBeGreaterThan(after);
  const read = new Uint8Array(4 * 4096);
  expect(submitAndWait(simulator, device, { op: BlockOp.read, block: 0, count: 4, data: read })).toBe(0);
  expect([0, 1, 2, 3].map((block) => read[block * 4096])).toEqual([1, 2, 0, 0]);
});

test.each([
  ['no JSON', '{', 4, /line 7 .*expected a JSON object, found \{/],
  ['an unknown operation', '{"op":"X"}', 4, /line 7 .*op must be W, F, T, Z or M, found "X"/],
  ['a negative place', '{"op":"T","off":-1,"len":4096}', 4, /off and len must be numbers/],
  ['an empty discard', '{"op":"T","off":0}', 4, /op T has a len of 0/],
  ['a text that is none', '{"op":"M","text":7}', 4, /text must be a string/],
  [
    'data that are not there',
    '{"op":"W","off":0,"len":4096,"d":[[8000,4096]]}',
    4,
    /\[8000,4096\].* within 8192 bytes/,
  ],
  ['too few data', '{"op":"W","off":0,"len":8192,"d":[[0,4096]]}', 4, /d has 4096 bytes, len is 8192/],
  [
    'half a block',
    '{"op":"T","off":512,"len":4096}',
    4,
    /line 7 .*4096 bytes at 512 are not whole blocks of 4096 bytes/,
  ],
  ['a place beyond the end', '{"op":"T","off":0,"len":4096}', 2, /line 1 .*beyond the 2 blocks/],
])('%s is an error that names its line', (_name, line, blocks, message) => {
  const { simulator, device } = opened(blocks);
  const body = (): unknown => runTask(simulator, new RecordedRun([...lines, line].join('\n'), data).replay(device));
  expect(body).toThrow(InputError);
  expect(body).toThrow(message);
});
