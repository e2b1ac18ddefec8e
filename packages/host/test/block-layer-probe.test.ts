import { BlockFlag, BlockOp, BlockStatus, MemoryDevice, RecordingDevice } from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { BlockLayer } from '../src/index.js';
import { build, cached, Submitter } from './slow-device.js';

const { read, write } = BlockOp;

/** What the probe hears, by the letters of a block trace. */
function listen(layer: BlockLayer): string[] {
  const heard: string[] = [];
  const say =
    (letter: string) =>
    (_op: number, block: number, count: number): void => {
      heard.push(`${letter} ${block}+${count}`);
    };
  layer.probe = {
    queued: say('Q'),
    merged: (_op, block, count, _flags, _origin, front) => heard.push(`${front ? 'F' : 'M'} ${block}+${count}`),
    split: say('X'),
    allocated: say('G'),
    plugged: () => heard.push('P'),
    unplugged: (requests) => heard.push(`U ${requests}`),
    inserted: say('I'),
    issued: say('D'),
    completed: (_op, block, count, _flags, _origin, status) => heard.push(`C ${block}+${count} ${status}`),
  };
  return heard;
}

test('the probe hears of brackets, cuts and merges in the order of a block trace', () => {
  const { device, layer, io } = build({ maxRequestBytes: 16_384, queueDepth: 1 });
  const heard = listen(layer);
  layer.plug();
  io.send(write, 10, 2);
  io.send(write, 12, 1);
  io.send(write, 30, 6);
  layer.unplug();
  expect(heard.splice(0)).toEqual([
    ...['Q 10+2', 'G 10+2', 'P', 'Q 12+1', 'M 12+1'],
    ...['Q 30+6', 'X 30+4', 'G 30+4', 'G 34+2', 'U 3', 'I 10+3', 'I 30+4', 'I 34+2', 'D 10+3'],
  ]);
  io.send(write, 29, 1);
  io.send(write, 36, 1);
  io.send(read, 0, 1);
  device.finish(0, BlockStatus.ioError);
  expect(heard.splice(0)).toEqual([
    ...['Q 29+1', 'G 29+1', 'I 29+1', 'Q 36+1', 'M 36+1'],
    ...['Q 0+1', 'G 0+1', 'I 0+1', 'C 10+3 1', 'D 30+4'],
  ]);
  device.finishAll();
  io.send(write, 50, 1, { flags: BlockFlag.preflush | BlockFlag.fua });
  device.finishAll();
  expect(heard.splice(heard.indexOf('Q 50+1'))).toEqual([
    ...['Q 50+1', 'D 0+0', 'C 0+0 0', 'G 50+1', 'I 50+1', 'D 50+1', 'C 50+1 0'],
  ]);
  const times = (letter: string): number => heard.filter((line) => line.startsWith(letter)).length;
  expect(times('D')).toBe(times('C') - 1);
});

test('the probe hears of every request, and what is issued covers what was queued', () => {
  const simulator = new Simulator();
  const recorder = new RecordingDevice(new MemoryDevice({ blockCount: 1000, features: cached }), { simulator });
  const layer = new BlockLayer(simulator, recorder, { maxRequestBytes: 65_536 });
  const heard = listen(layer);
  const io = new Submitter(layer);
  layer.plug();
  for (let block = 0; block < 200; block += 2) io.send(write, block, 2);
  layer.unplug();
  const blocks = (letter: string): number =>
    heard
      .filter((line) => line.startsWith(`${letter} `))
      .reduce((sum, line) => sum + parseInt(line.split('+')[1], 10), 0);
  expect(blocks('Q')).toBe(200);
  expect(blocks('G') + blocks('M') + blocks('F')).toBe(200);
  expect(blocks('D')).toBe(200);
  expect(blocks('C')).toBe(200);
  expect(recorder.length).toBe(layer.stats.issued);
  expect(layer.stats.issued).toBe(13);
});
