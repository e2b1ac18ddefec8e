import {
  type PatternTimeUnit,
  patternFormat,
  type ReadTraceOptions,
  type TraceAction,
  type WaitUnit,
} from '@flashstack/workloads';

/** The keys of a spec's trace workload, checked. */
interface TraceKeys {
  readonly format?: string;
  readonly badLines?: 'fail' | 'skip';
  readonly volumes?: readonly string[];
  readonly limit?: number;
  readonly action?: TraceAction;
  readonly waitUnit?: WaitUnit;
  readonly pattern?: string;
  readonly ignore?: string;
  readonly timeUnit?: PatternTimeUnit;
  readonly offsetUnitBytes?: number;
  readonly lengthUnitBytes?: number;
  readonly readWords?: readonly string[];
  readonly writeWords?: readonly string[];
  readonly flushWords?: readonly string[];
  readonly discardWords?: readonly string[];
}

/** How a trace is read, from the options of a `TraceRequest`. @throws InputError for an impossible pattern. */
export function traceReading(options: Readonly<Record<string, unknown>>): ReadTraceOptions {
  const keys = options as TraceKeys;
  const { format, badLines, volumes, limit, action, waitUnit } = keys;
  return {
    ...(format === undefined ? {} : { format: format === 'pattern' ? ownFormat(keys) : format }),
    ...(badLines === undefined ? {} : { badLines }),
    ...(volumes === undefined ? {} : { volumes }),
    ...(limit === undefined ? {} : { limit }),
    ...(action === undefined ? {} : { action }),
    ...(waitUnit === undefined ? {} : { waitUnit }),
  };
}

function ownFormat(keys: TraceKeys): ReturnType<typeof patternFormat> {
  const { pattern = '', ignore, timeUnit, offsetUnitBytes, lengthUnitBytes } = keys;
  const { readWords: read, writeWords: write, flushWords: flush, discardWords: discard } = keys;
  const words = Object.entries({ read, write, flush, discard }).filter(([, list]) => list !== undefined);
  return patternFormat({
    pattern,
    ...(ignore === undefined ? {} : { ignore }),
    ...(timeUnit === undefined ? {} : { timeUnit }),
    ...(offsetUnitBytes === undefined ? {} : { offsetUnitBytes }),
    ...(lengthUnitBytes === undefined ? {} : { lengthUnitBytes }),
    ...(words.length === 0 ? {} : { words: Object.fromEntries(words) }),
  });
}
