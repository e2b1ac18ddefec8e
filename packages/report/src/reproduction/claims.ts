import { html, type Insert, type Markup } from '../markup.js';
import { tagHtml } from '../page/parts.js';
import { bandText, publishedOf, rangeText, simulatedText } from './claim-text.js';
import { stripHtml, verdictLooks } from './strip.js';
import type { Basis, Claim, Reproduction } from './types.js';

const basisTexts: Readonly<Record<Basis, string>> = {
  events: 'counted events, exact',
  size: 'computed size, exact',
  time: 'simulated time, modelled',
};

/** Published, simulated, band and verdict of every claim, and why those outside of their bands are there. */
export function claimsHtml(reproduction: Reproduction): Insert[] {
  const { claims, tightness } = reproduction;
  if (claims.length === 0)
    return [html`<p class="call">No value of this reproduction is compared with a published one.</p>`];
  const rows = claims.map((claim) => rowHtml(claim, tightness));
  const several = claims.some((claim) => rangeText(claim) !== '');
  return [
    html`<div class="tw" tabindex="0"><table class="claims" role="table"><thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">claim</th><th scope="col" role="columnheader" class="num">published</th><th scope="col" role="columnheader" class="num">simulated${several ? html` <small>lowest … highest</small>` : null}</th><th scope="col" role="columnheader" class="num">band</th><th scope="col" role="columnheader" class="keys"><span class="kb"><i></i>band</span><span class="kp"><i></i>published</span><span class="ks"><i></i>simulated</span></th><th scope="col" role="columnheader">verdict</th></tr></thead><tbody role="rowgroup">${rows}</tbody></table></div>\n`,
    ...claims.map(reasonHtml),
  ];
}

function rowHtml(claim: Claim, tightness: Reproduction['tightness']): Markup {
  const { kind, label } = verdictLooks[claim.verdict];
  const published = publishedOf(claim);
  const range = rangeText(claim);
  const words = published.value === null && published.text.length > 12;
  return html`<tr role="row"${claim.verdict === 'miss' ? html` class="missed"` : null}><th scope="row" role="rowheader">${claim.name}<div class="what">${basisTexts[claim.basis]}</div></th><td role="cell" class="num pub${words ? ' words' : ''}">${published.text}</td><td role="cell" class="num sim"><b>${simulatedText(claim)}</b>${range === '' ? null : html`<small>${range}</small>`}</td><td role="cell" class="num band">${bandText(claim)}</td><td role="cell" class="at">${stripHtml(claim, tightness)}</td><td role="cell" class="verdict">${tagHtml(kind, label)}</td></tr>`;
}

function reasonHtml(claim: Claim): Markup | null {
  const { name, verdict, reason } = claim;
  const simulated = `simulated ${simulatedText(claim)}, ${claim.band === null ? `published ${publishedOf(claim).text}` : `band ${bandText(claim)}`}`;
  if (verdict === 'miss') {
    return html`<p class="call miss"><b>✗ ${name}</b>: ${simulated}. ${reason ?? 'Why it misses is not known.'}</p>`;
  }
  if (verdict === 'expectedMiss') {
    return html`<p class="call warn"><b>◐ ${name}</b>: ${simulated}. ${reason ?? 'Declared in advance, without a reason.'}</p>`;
  }
  return reason === undefined ? null : html`<p class="call"><b>${name}</b>: ${reason}</p>`;
}
