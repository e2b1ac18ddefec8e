import { BlockOp, submitAndWait } from '@flashstack/block-device';
import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import type { Violation } from '../judge/violation.js';
import type { Drive, DriveSubject } from './drive.js';
import { DriveTraffic, shownBy } from './drive-traffic.js';
import { SECTOR_BYTES } from './sector.js';
import { DriveShadow } from './shadow.js';

/** How a drive is cut. */
export interface DriveCutOptions {
  readonly subject: DriveSubject;
  readonly seed: number;
  /** Power cuts in a row, the drive used in between. Default 3. */
  readonly cuts?: number;
  /** Requests that begin before each cut, at most. Default 60. */
  readonly requests?: number;
  /** The first cut comes just after so many things have happened inside the drive. Default: a random number. */
  readonly firstCut?: number;
}

/** What one drive went through. */
export interface DriveCutReport {
  cuts: number;
  /** False: the first cut came when all requests were done. */
  busy: boolean;
  readonly violations: Violation[];
}

/** Blocks that are read at a time. */
const CHUNK = 64;

/**
 * Sends random requests to a drive and cuts its power in the middle of them, several times, also while it recovers. After
 * each recovery every sector must show what the drive's buffer allows (`D1 flush`, `D2 protected`, `D3 torn`, `D4 foreign`,
 * `D6 trim`), a cut right after that must change nothing (`D7 repeatable`), and in the end the drive must work (`D9 usable`).
 */
export function cutDrive(options: DriveCutOptions): DriveCutReport {
  const { subject, seed, cuts = 3 } = options;
  const simulator = new Simulator();
  const source = new RandomSource(seed);
  const random = source.stream('cuts');
  const drive = subject.make(simulator, seed);
  const shadow = new DriveShadow(drive.device.blockCount, subject.promise);
  const traffic = new DriveTraffic(drive, shadow, source.stream('traffic'));
  const report: DriveCutReport = { cuts: 0, busy: false, violations: traffic.violations };
  if (drive.device.blockBytes !== SECTOR_BYTES) throw new RangeError(`blocks of ${drive.device.blockBytes} bytes`);
  if (seed % 2 === 1) {
    traffic.overwrite();
    simulator.drain();
  }
  for (let cut = 0; cut < cuts; cut++) {
    traffic.start(1 + random.below(options.requests ?? 60), 1 + random.below(12));
    const steps = cut === 0 && options.firstCut !== undefined ? options.firstCut : random.below(400);
    step(simulator, steps, random);
    report.busy ||= traffic.inFlight > 0;
    traffic.cut();
    report.cuts++;
    recover(simulator, drive, random, report);
    settle(simulator, drive, shadow, report, false);
    // What was read must be read again, wherever the recovery stands.
    step(simulator, random.below(20), random);
    drive.powerCut();
    report.cuts++;
    recover(simulator, drive, random, report);
    settle(simulator, drive, shadow, report, true);
    if (report.violations.length > 0) return report;
  }
  traffic.overwrite();
  simulator.drain();
  if (traffic.inFlight > 0) report.violations.push(usable(`${traffic.inFlight} requests were never given back`));
  const found = readAll(simulator, drive);
  for (let lpn = 0; lpn < found.length; lpn++) add(report, shadow.same(lpn, found[lpn]));
  inspect(drive, report);
  return report;
}

/** Lets so many things happen, and then maybe a part of the time until the next. */
function step(simulator: Simulator, steps: number, random: RandomStream): void {
  for (let at = 0; at < steps; at++) {
    const due = simulator.pump();
    if (due === Number.POSITIVE_INFINITY) return;
    simulator.runUntil(due);
  }
  const due = simulator.pump();
  if (due === Number.POSITIVE_INFINITY || random.below(2) === 0) return;
  simulator.runUntil(simulator.now + Math.floor((due - simulator.now) * random.nextFloat()));
}

/** Power comes back, and goes again now and then before the recovery is over. */
function recover(simulator: Simulator, drive: Drive, random: RandomStream, report: DriveCutReport): void {
  for (;;) {
    drive.powerOn();
    inspect(drive, report);
    if (random.below(3) > 0) return;
    step(simulator, random.below(12), random);
    drive.powerCut();
    report.cuts++;
  }
}

function settle(simulator: Simulator, drive: Drive, shadow: DriveShadow, report: DriveCutReport, again: boolean): void {
  const found = readAll(simulator, drive);
  for (let lpn = 0; lpn < found.length; lpn++) {
    const violation = shadow.settle(lpn, found[lpn]);
    add(report, violation === null || !again ? violation : { ...violation, rule: 'D7 repeatable' });
  }
}

function readAll(simulator: Simulator, drive: Drive): number[] {
  const { device } = drive;
  const bytes = new Uint8Array(device.blockCount * SECTOR_BYTES);
  for (let block = 0; block < device.blockCount; block += CHUNK) {
    const count = Math.min(CHUNK, device.blockCount - block);
    const data = bytes.subarray(block * SECTOR_BYTES, (block + count) * SECTOR_BYTES);
    const status = submitAndWait(simulator, device, { op: BlockOp.read, block, count, data });
    if (status !== 0) throw new Error(`a read of sectors ${block} to ${block + count - 1} ended with status ${status}`);
  }
  return shownBy(bytes);
}

function inspect(drive: Drive, report: DriveCutReport): void {
  try {
    drive.inspect?.();
  } catch (error) {
    report.violations.push(usable(error instanceof Error ? error.message : String(error)));
  }
}

function usable(text: string): Violation {
  return { rule: 'D9 usable', path: 'drive', text };
}

function add(report: DriveCutReport, violation: Violation | null): void {
  if (violation !== null) report.violations.push(violation);
}
