import { captureState, InputError, mix32, restoreState, SimulationError } from '@flashstack/sim';
import type { Ssd } from './ssd.js';

/** What stands in front of the state in an image, as JSON. */
interface Header {
  readonly format: string;
  /** Whatever the caller wants back. */
  readonly label: string;
  readonly config: unknown;
  /** Simulated time of saving. */
  readonly nowNs: number;
  readonly stateBytes: number;
  /** `sumOf` the state. */
  readonly stateSum: number;
}

const FORMAT = 'flashstack.device/1';
/** Length of the header, 32 bits, little-endian; then the header, then the state. */
const LENGTH_BYTES = 4;
/** No header is longer; what claims to be is no image. */
const LONGEST_HEADER = 1 << 20;

/**
 * The whole state of a drive as bytes: flash contents, mapping, wear, the state of all strategies and of randomness. A
 * drive that is loaded from it goes on exactly as the saved one does. A strategy of one's own must keep its state in
 * properties (see `captureState`).
 * @throws SimulationError `ERR_SSD_BUSY` if requests are in flight or events pending.
 */
export function saveDevice(ssd: Ssd, label = ''): Uint8Array {
  const { simulator, config } = ssd;
  if (ssd.requestsInFlight > 0 || simulator.pendingEvents > 0) {
    throw new SimulationError(
      'ERR_SSD_BUSY',
      `cannot save: ${ssd.requestsInFlight} requests in flight, ${simulator.pendingEvents} events pending; drain first`,
    );
  }
  const state = captureState(ssd, [simulator, config]);
  const header: Header = {
    format: FORMAT,
    label,
    config: plain(config),
    nowNs: simulator.now,
    stateBytes: state.length,
    stateSum: sumOf(state),
  };
  const head = new TextEncoder().encode(JSON.stringify(header));
  const image = new Uint8Array(LENGTH_BYTES + head.length + state.length);
  new DataView(image.buffer).setUint32(0, head.length, true);
  image.set(head, LENGTH_BYTES);
  image.set(state, LENGTH_BYTES + head.length);
  return image;
}

/**
 * Brings a drive of the same configuration, new and on a simulator of its own, into a saved state. The simulator's clock
 * goes on to the time of saving.
 * @returns the label.
 * @throws InputError `ERR_SSD_IMAGE` if the image is damaged or of a drive with another configuration.
 */
export function loadDevice(ssd: Ssd, image: Uint8Array): string {
  const header = headerOf(image);
  const differs = difference(header.config, plain(ssd.config), 'device');
  if (differs !== null) throw new InputError('ERR_SSD_IMAGE', `the saved drive is another one: ${differs}`, 'image');
  const state = image.subarray(LENGTH_BYTES + headerLength(image));
  if (state.length !== header.stateBytes) {
    const found = `found ${state.length} bytes of state, expected ${header.stateBytes}`;
    throw new InputError('ERR_SSD_IMAGE', `the saved drive is cut short: ${found}`, 'image');
  }
  // A flipped bit of a mapping would otherwise show, if at all, as another result.
  if (sumOf(state) !== header.stateSum) {
    throw new InputError('ERR_SSD_IMAGE', 'the saved drive is damaged: its checksum is wrong. Save it again.', 'image');
  }
  ssd.simulator.runUntil(header.nowNs);
  restoreState(ssd, state, [ssd.simulator, ssd.config]);
  return header.label;
}

/** The label of an image, without loading it. @throws InputError `ERR_SSD_IMAGE` if it is none. */
export function deviceImageLabel(image: Uint8Array): string {
  return headerOf(image).label;
}

function headerOf(image: Uint8Array): Header {
  const length = headerLength(image);
  let header: Partial<Header> | null = null;
  try {
    header = JSON.parse(new TextDecoder().decode(image.subarray(LENGTH_BYTES, LENGTH_BYTES + length)));
  } catch {
    // Reported below: what is no JSON has no format.
  }
  if (header?.format !== FORMAT) {
    throw new InputError(
      'ERR_SSD_IMAGE',
      `this is no saved drive: it does not begin with the format "${FORMAT}"`,
      'image',
    );
  }
  return header as Header;
}

function headerLength(image: Uint8Array): number {
  if (image.length < LENGTH_BYTES) return 0;
  return Math.min(LONGEST_HEADER, new DataView(image.buffer, image.byteOffset).getUint32(0, true));
}

/** A checksum of 32 bits. Every step is a bijection of the word and of the sum before: one wrong word always shows. */
function sumOf(state: Uint8Array): number {
  const view = new DataView(state.buffer, state.byteOffset, state.length);
  const words = state.length >> 2;
  let sum = state.length;
  for (let word = 0; word < words; word++) sum = mix32(sum ^ view.getUint32(4 * word, true));
  for (let at = 4 * words; at < state.length; at++) sum = mix32(sum ^ state[at]);
  return sum;
}

/** A configuration as plain data. A strategy that is an object of a class belongs to the state, not to the configuration. */
function plain(config: object): unknown {
  const text = JSON.stringify(config, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.getPrototypeOf(value) === Object.prototype ? value : 'an object';
  });
  return JSON.parse(text);
}

/** Where two configurations first differ, or null. */
function difference(saved: unknown, here: unknown, path: string): string | null {
  if (typeof saved !== 'object' || typeof here !== 'object' || saved === null || here === null) {
    return Object.is(saved, here) ? null : `${path} is ${JSON.stringify(here)} here, ${JSON.stringify(saved)} there`;
  }
  const there = saved as Record<string, unknown>;
  const mine = here as Record<string, unknown>;
  for (const key of new Set([...Object.keys(there), ...Object.keys(mine)])) {
    const found = difference(there[key], mine[key], `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
