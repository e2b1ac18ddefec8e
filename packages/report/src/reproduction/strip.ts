import { html, type Markup } from '../markup.js';
import { publishedOf, unchangedOf } from './claim-text.js';
import type { Claim, Reproduction, Verdict } from './types.js';

/** Room beyond the outermost value, as a share of the span of all. */
const ROOM = 0.14;

/** A claim as places on a strip, from 0 (left) to 1. */
export interface Strip {
  readonly band: { readonly from: number; readonly to: number; readonly open: 'none' | 'left' | 'right' } | null;
  readonly published: number | null;
  readonly inexact: boolean;
  /** Null where the simulation gave no number. */
  readonly simulated: { readonly mean: number; readonly low: number; readonly high: number } | null;
  /** Where nothing changes, for directions that have no band. */
  readonly unchanged: number | null;
}

/** Where everything of a claim lies. Each strip has its own scale, which holds all of its values. */
export function stripOf(claim: Claim, tightness: Reproduction['tightness']): Strip {
  const { band } = claim;
  const { mean, low, high } = claim.simulated;
  const { value, inexact } = publishedOf(claim);
  const direction = tightness === 'D' && band === null ? unchangedOf(claim.unit) : null;
  const all = [value, band?.low ?? null, band?.high ?? null, direction, low, high];
  const known = all.filter((other) => other !== null && Number.isFinite(other)) as number[];
  const [least, most] = known.length === 0 ? [0, 0] : [Math.min(...known), Math.max(...known)];
  // One value alone, or values that agree: the strip is as wide as a fifth of them.
  const room = (most > least ? most - least : Math.abs(least) / 5 || 1) * ROOM;
  const width = most - least + 2 * room;
  const place = (at: number): number => (at - least + room) / width;
  return {
    band:
      band === null
        ? null
        : {
            from: band.low === null ? 0 : place(band.low),
            to: band.high === null ? 1 : place(band.high),
            open: band.low === null ? 'left' : band.high === null ? 'right' : 'none',
          },
    published: value === null ? null : place(value),
    inexact,
    simulated: Number.isFinite(mean) ? { mean: place(mean), low: place(low), high: place(high) } : null,
    unchanged: direction === null ? null : place(direction),
  };
}

/** How a verdict is drawn and named. */
export const verdictLooks: Readonly<
  Record<Verdict, { readonly kind: 'pass' | 'miss' | 'warn' | 'skip'; readonly label: string }>
> = {
  pass: { kind: 'pass', label: 'pass' },
  miss: { kind: 'miss', label: 'miss' },
  expectedMiss: { kind: 'warn', label: 'expected miss' },
  shown: { kind: 'skip', label: 'shown' },
};

/** The strip of a claim. Its values stand beside it as text, so that it says nothing to a screen reader. */
export function stripHtml(claim: Claim, tightness: Reproduction['tightness']): Markup {
  const { band, published, inexact, simulated, unchanged } = stripOf(claim, tightness);
  const { kind } = verdictLooks[claim.verdict];
  const ground =
    band === null
      ? null
      : html`<i class="bd ${band.open}" style="left:${percent(band.from)};width:${percent(band.to - band.from)}"></i>`;
  const line = unchanged === null ? null : html`<i class="un" style="left:${percent(unchanged)}"></i>`;
  const diamond =
    published === null ? null : html`<b class="pb${inexact ? ' in' : ''}" style="left:${percent(published)}"></b>`;
  const mark = simulated === null ? null : markHtml(simulated, kind);
  return html`<div class="strip" aria-hidden="true">${ground}${line}${diamond}${mark}</div>`;
}

function markHtml({ mean, low, high }: NonNullable<Strip['simulated']>, kind: string): Markup {
  const range = high > low ? html`<i class="rg" style="left:${percent(low)};width:${percent(high - low)}"></i>` : null;
  return html`${range}<b class="sm ${kind}" style="left:${percent(mean)}"></b>`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}
