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
}

/** The frontiers that options ask for, given the number of host streams, and with translation pages or not. */
export function frontierLayout(options: ResolvedFtlOptions, streams: number, mapPages: boolean): FrontierLayout {
  const mixed = options.placement === 'mixed';
  const gcFrontiers = mixed ? 0 : options.gcKeepsStream ? streams : 1;
  const wear = streams + gcFrontiers;
  const map = wear + (options.wearLevelling.kind === 'none' ? 0 : 1);
  return {
    host: streams,
    gc: mixed ? 0 : streams,
    wear,
    map,
    total: map + (mapPages ? 1 : 0),
  };
}
