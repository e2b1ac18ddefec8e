/** Whether a value counts events (exact) or simulated time (modelled). */
export type Basis = 'events' | 'time' | 'size';

/** What a claim came to: inside its band, outside, outside as declared in advance, or shown without a band. */
export type Verdict = 'pass' | 'miss' | 'expectedMiss' | 'shown';

/** One statement of a paper beside what the simulation says. */
export interface Claim {
  /** Such as 'sequential read'. */
  readonly name: string;
  /** Such as 'MB/s', '×', '%', or ''. */
  readonly unit: string;
  /** What the paper says: a value, or words ('shrinks with page size'). */
  readonly published: number | string;
  /** Band in which the simulated value must lie; null on a side: open. Null: no band (shown only). */
  readonly band: { readonly low: number | null; readonly high: number | null } | null;
  /** Over the seeds. */
  readonly simulated: { readonly mean: number; readonly low: number; readonly high: number };
  readonly basis: Basis;
  readonly verdict: Verdict;
  /** Why it misses, or what is expected to miss. */
  readonly reason?: string;
}

/** A chart of a reproduction. `x` are numbers or names; NaN leaves a gap. */
export interface ReproductionFigure {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  readonly kind: 'lines' | 'bars';
  readonly x: { readonly label: string; readonly values: readonly (number | string)[]; readonly log?: boolean };
  readonly y: { readonly label: string; readonly log?: boolean };
  /** A value per `x`; `low` and `high` over the seeds; `published`: values of the paper, not simulated ones. */
  readonly series: readonly {
    readonly name: string;
    readonly values: readonly number[];
    readonly low?: readonly number[];
    readonly high?: readonly number[];
    readonly published?: boolean;
  }[];
}

/** What a paper published and what the simulation says, as plain JSON. */
export interface Reproduction {
  readonly schema: 'flashstack.reproduction/1';
  readonly id: string;
  readonly title: string;
  /** Such as 'VSSIM (MSST 2013)'. */
  readonly paper: string;
  /** 'T' exact or ±2 %, 'B' band, 'D' direction, 'own' ours: nobody has published it. */
  readonly tightness: 'T' | 'B' | 'D' | 'own';
  /** What was scaled and by how much, or 'full size'. */
  readonly scale: string;
  readonly seeds: readonly number[];
  readonly claims: readonly Claim[];
  readonly figures: readonly ReproductionFigure[];
  /** Tables of their own (measured values). */
  readonly tables: readonly {
    readonly title: string;
    readonly head: readonly string[];
    readonly rows: readonly (readonly (string | number)[])[];
  }[];
  readonly notes: readonly string[];
  /** Runs behind it. */
  readonly runs: readonly { readonly name: string; readonly specHash: string; readonly seed: number }[];
  readonly versions: Readonly<Record<string, string>>;
}
