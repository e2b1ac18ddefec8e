import { InputError } from '@flashstack/sim';
import type { ResolvedFtlOptions } from './options.js';

/** Which frontiers a domain has: numbers from 0 on, host streams first. */
export interface FrontierLayout {
  /** Frontiers 0 … host − 1 take host data, one per stream. */
  readonly host: number;
  /** First frontier for relocated data; 0 if it shares those of the host. */
  readonly gc: number;
  /** Frontier for data moved by static wear levelling. Does not exist (equals `map`) without it. */
  readonly wear: number;
  /** Frontier for translation pages, new and relocated. Does not exist (equals `total`) without a map cache. */
  readonly map: number;
  readonly total: number;
  /** No block may hold data of two streams. */
  readonly isolates: boolean;
}

/** What of a stream policy decides about frontiers. */
interface StreamShape {
  readonly streams: number;
  readonly moveStreams?: number;
  readonly isolates?: boolean;
}

/**
 * The frontiers that options ask for, given the streams of host and relocated data, and with translation pages or not.
 * @throws InputError `ERR_FTL_OPTION` if the stream policy does not go with the other options.
 */
export function frontierLayout(options: ResolvedFtlOptions, policy: StreamShape, mapPages: boolean): FrontierLayout {
  const { streams, moveStreams } = policy;
  const mixed = options.placement === 'mixed';
  if (moveStreams !== undefined) checkMoves(options, streams, moveStreams);
  const gcFrontiers = mixed ? 0 : (moveStreams ?? (options.gcKeepsStream ? streams : 1));
  const wear = streams + gcFrontiers;
  const map = wear + (options.wearLevelling.kind === 'none' ? 0 : 1);
  return {
    host: streams,
    gc: mixed ? 0 : streams,
    wear,
    map,
    total: map + (mapPages ? 1 : 0),
    isolates: policy.isolates ?? false,
  };
}

function checkMoves(options: ResolvedFtlOptions, streams: number, moveStreams: number): void {
  if (options.gcKeepsStream) {
    throw new InputError(
      'ERR_FTL_OPTION',
      'ftl.gcKeepsStream: found true, expected false, because the stream policy places relocated data itself',
      'ftl.gcKeepsStream',
    );
  }
  if (options.placement === 'mixed' && moveStreams !== streams) {
    throw new InputError(
      'ERR_FTL_OPTION',
      `ftl.placement: found "mixed", expected "separate", because the stream policy has ${streams} streams for the host ` +
        `and ${moveStreams} of its own for relocated data`,
      'ftl.placement',
    );
  }
}
