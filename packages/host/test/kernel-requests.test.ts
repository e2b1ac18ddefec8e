import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type BlockDevice, BlockFlag, BlockOp, BlockRequest, type IoOwner, Origin } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { BlockLayer } from '../src/index.js';

/** One step of a recording: what the file system submitted, and what the driver got. */
interface Step {
  readonly name: string;
  readonly events: readonly string[][];
}

const sectorBytes = 512;

/** Keeps requests until it is told to be done with one. */
class Driver implements BlockDevice {
  readonly blockBytes = sectorBytes;
  readonly blockCount = 2 ** 20;
  readonly features = { fua: true, volatileCache: true, discard: true, atomicBlocks: 1, keeps: 'nothing' } as const;
  readonly issued: string[] = [];
  readonly held: BlockRequest[] = [];

  submit(request: BlockRequest): void {
    this.issued.push(`${kindOf(request.op, request.flags)} ${request.block} ${request.count}`);
    this.held.push(request);
  }

  complete(op: number, block: number): void {
    const at = this.held.findIndex((request) => request.op === op && (op === BlockOp.flush || request.block === block));
    if (at < 0) throw new Error(`no request ${op} at ${block} is on its way`);
    const [request] = this.held.splice(at, 1);
    request.owner.ioDone(request);
  }
}

function kindOf(op: number, flags: number): string {
  if (op === BlockOp.flush) return 'F';
  if (op === BlockOp.read) return (flags & BlockFlag.ahead) !== 0 ? 'RA' : 'R';
  return (flags & BlockFlag.fua) !== 0 ? 'WF' : 'W';
}

function recordings(): Map<string, Step[]> {
  const text = gunzipSync(readFileSync(fixtureUrl('kernel-io-blocks.txt.gz'))).toString('latin1');
  const all = new Map<string, Step[]>();
  let steps: Step[] = [];
  for (const line of text.trim().split('\n')) {
    const [mark, ...rest] = line.split(' ');
    if (mark === '=') {
      steps = [];
      all.set(rest[0], steps);
    } else if (mark === 'S') steps.push({ name: rest[0], events: [] });
    else (steps[steps.length - 1].events as string[][]).push([mark, ...rest]);
  }
  return all;
}

const owner: IoOwner = { ioDone() {} };

/** A request as the tracer prints it. */
function parse(rwbs: string, sector: string, sectors: string): BlockRequest {
  const request = new BlockRequest(owner);
  request.count = Number(sectors);
  request.block = request.count === 0 ? 0 : Number(sector);
  const write = rwbs.indexOf('W');
  if (rwbs.includes('R')) request.op = BlockOp.read;
  else request.op = request.count === 0 ? BlockOp.flush : BlockOp.write;
  if (request.op === BlockOp.write) {
    if (rwbs.startsWith('F')) request.flags |= BlockFlag.preflush;
    if (rwbs.indexOf('F', write) > write) request.flags |= BlockFlag.fua;
  }
  if (rwbs.includes('S')) request.flags |= BlockFlag.sync;
  if (rwbs.includes('A')) request.flags |= BlockFlag.ahead;
  request.origin = rwbs.includes('M') ? Origin.node : Origin.fileData;
  return request;
}

/**
 * Cut by Linux after 127 pages, because these lay apart in memory, which the recording does not tell: it is queued here in
 * the pieces that were issued.
 */
const SCATTERED: Readonly<Record<string, readonly number[]>> = { 'ext4-nobarrier Q WS 303104 2048': [1016, 1024, 8] };

function submit(layer: BlockLayer, config: string, event: readonly string[]): void {
  const [, rwbs, sector, sectors] = event;
  const pieces = SCATTERED[`${config} Q ${rwbs} ${sector} ${sectors}`] ?? [Number(sectors)];
  let at = Number(sector);
  for (const count of pieces) {
    layer.submit(parse(rwbs, String(at), String(count)));
    at += count;
  }
}

/**
 * Plays what was queued. A task's bracket ends where the driver saw something that the block layer has not sent by itself
 * yet, or another task queued.
 */
function play(config: string, step: Step, layer: BlockLayer, driver: Driver): void {
  let task: string | null = null;
  let issued = 0;
  for (const event of step.events) {
    const [mark, rwbs, sector, sectors, comm] = event;
    if (mark === 'D') issued++;
    if (task !== null && (mark === 'Q' ? comm !== task : issued > driver.issued.length)) {
      layer.unplug();
      task = null;
    }
    if (mark === 'Q') {
      if (task === null) layer.plug();
      task = comm;
      submit(layer, config, event);
    } else if (mark === 'C' && (Number(sectors) > 0 || rwbs === 'FF')) {
      driver.complete(parse(rwbs === 'FF' ? 'F' : rwbs, sector, sectors).op, Number(sector));
    }
  }
  if (task !== null) layer.unplug();
}

describe.each([...recordings()])('%s', (config, steps) => {
  test('what Linux queued is issued as Linux issued it', () => {
    const driver = new Driver();
    const layer = new BlockLayer(new Simulator(), driver, { scheduler: 'deadline' });
    let compared = 0;
    for (const step of steps) {
      driver.issued.length = 0;
      play(config, step, layer, driver);
      const recorded = step.events
        .filter(([mark]) => mark === 'D')
        .map(([, rwbs, sector, sectors]) => {
          const { op, flags, block, count } = parse(rwbs === 'FF' ? 'F' : rwbs, sector, sectors);
          return `${kindOf(op, flags & ~BlockFlag.preflush)} ${block} ${count}`;
        });
      expect(driver.issued, step.name).toEqual(recorded);
      compared += recorded.length;
    }
    expect(compared).toBeGreaterThan(400);
  });
});
