import { convertTrace, readTrace, type TraceInfo, traceInfo } from '@flashstack/workloads';

/** What one engine makes of a trace. */
export interface TraceDigest {
  requests: number;
  info: TraceInfo;
  /** Text of the trace in the format of MSR, read back from each packing. */
  texts: Record<string, string>;
  /** What is said of the file cut short. */
  cut: string;
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

async function converted(bytes: Uint8Array, pack: 'none' | 'gzip' | 'zstd'): Promise<Uint8Array> {
  const parts: number[] = [];
  await convertTrace(pieces(bytes), 'trace', { to: 'msr', pack }, (part) => {
    parts.push(...part);
  });
  return Uint8Array.from(parts);
}

/** Reads a trace, packs it in each way, and reads that again. */
export async function traceInThisEngine(given: readonly number[]): Promise<TraceDigest> {
  const bytes = Uint8Array.from(given);
  const { trace } = await readTrace(pieces(bytes), 'trace');
  const texts: Record<string, string> = {};
  for (const pack of ['none', 'gzip', 'zstd'] as const) {
    const again = await converted(await converted(bytes, pack), 'none');
    texts[pack] = new TextDecoder().decode(again);
  }
  const zstd = await converted(bytes, 'zstd');
  const cut = await readTrace(pieces(zstd.subarray(0, zstd.length - 3)), 'trace').then(
    () => 'read all the same',
    (error: unknown) => String(error),
  );
  return { requests: trace.length, info: traceInfo(trace.source()), texts, cut };
}
