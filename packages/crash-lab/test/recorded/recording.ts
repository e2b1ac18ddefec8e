import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BlockOp, submitAndWait } from '@flashstack/block-device';
import { BaseImage, CrashDevice, CrashImages, type CrashModel, IdentitySet } from '@flashstack/block-device/crash';
import { ImageFileDevice } from '@flashstack/block-device/node';
import { fixtureUrl } from '@flashstack/fixtures';
import { type RandomSource, runTask, Simulator } from '@flashstack/sim';
import { type RecordedMark, RecordedRun } from '../../src/index.js';

/** A recorded run as the record of a device. */
export interface Recording {
  /** A file with what the disk held before. */
  readonly base: string;
  readonly device: CrashDevice;
  readonly marks: readonly RecordedMark[];
}

/** What the drive could have held after a power cut. */
export interface RecordedImage {
  /** Marks that had been made by then. */
  readonly marks: readonly string[];
  /** Blocks that differ from the base. */
  readonly blocks: readonly (readonly [block: number, contents: Uint8Array])[];
}

/** Opens a recorded run of the fixtures; its base goes to a folder. */
export function openRecording(name: string, folder: string): Recording {
  const read = (file: string): Buffer => gunzipSync(readFileSync(fixtureUrl(`crash/${name}/${file}.gz`)));
  const base = join(folder, `${name}.img`);
  writeFileSync(base, read('base.img'));
  const simulator = new Simulator();
  const file = new ImageFileDevice(base, { readOnly: true });
  const device = new CrashDevice(BaseImage.of(simulator, file));
  file.close();
  const run = new RecordedRun(read('ops.jsonl').toString('utf8'), read('data.bin'));
  const marks = runTask(simulator, run.replay(device));
  return { base, device, marks };
}

/**
 * The blocks of the base of a recording but for zeroes and the contents of the files that its ageing has left, which nobody
 * looks at: a tenth of them.
 */
export function* thinBase({ base }: Recording): Generator<[block: number, contents: Uint8Array]> {
  const bytes = readFileSync(base);
  const zeroes = Buffer.alloc(4096);
  for (let block = 0; block * 4096 < bytes.length; block++) {
    const contents = bytes.subarray(block * 4096, (block + 1) * 4096);
    if (!contents.equals(zeroes) && !contents.toString('latin1', 0, 9).startsWith('file=old/')) yield [block, contents];
  }
}

/** Which images, and about how many. */
export interface ImagesWanted {
  readonly model: CrashModel;
  readonly about: number;
  /** Only those in which nothing is kept that the model leaves open. Otherwise those with everything too, and some between. */
  readonly nothingKept: boolean;
  readonly random: RandomSource;
}

/** Different images of power cuts all over a run, by chance. */
export function* imagesOf({ device, marks }: Recording, wanted: ImagesWanted): Generator<RecordedImage> {
  const { model, about, nothingKept, random } = wanted;
  const draw = nothingKept ? { draws: 0, most: 1 } : { draws: 6, most: 5 };
  const images = new CrashImages(device, { model, combinations: 1, ...draw, random: random.stream('images') });
  const chance = random.stream('chance');
  const share = about / (nothingKept ? cutsOf(images) : triedOf(images));
  const seen = new IdentitySet();
  const after = device.successor();
  let cut = -1;
  images.begin();
  while (images.next()) {
    const first = images.cut !== cut;
    cut = images.cut;
    // The first one of a cut keeps nothing.
    if ((nothingKept && !first) || chance.nextFloat() >= share || !seen.add(images.low, images.high)) continue;
    images.open(after);
    const made = marks.filter(({ position }) => position <= images.lastCut).map(({ text }) => text);
    yield { marks: made, blocks: differing(after) };
  }
}

/** The image of the last power cut behind a mark that keeps everything but what was written to one block. */
export function imageWithout({ device, marks }: Recording, mark: string, block: number): RecordedImage {
  const images = new CrashImages(device, { combinations: 1, draws: 0, most: 1 });
  images.begin();
  while (images.next()) {
    const made = marks.filter(({ position }) => position <= images.cut).map(({ text }) => text);
    if (!made[made.length - 1]?.startsWith(mark)) continue;
    const blocks = Array.from({ length: images.openUnits }, (_, unit) => images.unit(unit).block);
    if (!blocks.includes(block)) continue;
    images.choose({ ...images.choice, chosen: blocks.map((open, unit) => (open === block ? 0 : images.lastOf(unit))) });
    const after = device.successor();
    images.open(after);
    return { marks: made, blocks: differing(after) };
  }
  throw new Error(`no power cut behind ${mark} leaves block ${block} open`);
}

function differing(device: CrashDevice): [block: number, contents: Uint8Array][] {
  const simulator = new Simulator();
  return Array.from(device.startBlocks.subarray(0, device.startCount), (block) => {
    const data = new Uint8Array(device.blockBytes);
    const status = submitAndWait(simulator, device, { op: BlockOp.read, block, count: 1, data });
    if (status !== 0) throw new Error(`block ${block} cannot be read: status ${status}`);
    return [block, data];
  });
}

function triedOf(images: CrashImages): number {
  images.begin();
  while (images.next());
  return images.tried;
}

function cutsOf(images: CrashImages): number {
  const cuts = new Set<number>();
  images.begin();
  while (images.next()) cuts.add(images.cut);
  return cuts.size;
}
