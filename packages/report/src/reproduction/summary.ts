import { html, type Insert, type Markup } from '../markup.js';
import { count } from '../numbers.js';
import { tagHtml } from '../page/parts.js';
import { slug } from './names.js';
import { verdictLooks } from './strip.js';
import type { Claim, Reproduction, Verdict } from './types.js';

/** Verdicts in the order of the bar. */
const ORDER: readonly Verdict[] = ['pass', 'expectedMiss', 'miss', 'shown'];
/** More claims than this have one piece of the bar per verdict, not one each. */
const PIECES = 60;
/** Claims that a sentence names. */
const NAMED = 3;
/** Numbers that begin a sentence. */
const WORDS = ['', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'];

/** What the class of a reproduction asks of it. */
export const classTexts: Readonly<Record<Reproduction['tightness'], string>> = {
  T: 'class T: exact or within 2\u00a0%',
  B: 'class B: within a band',
  D: 'class D: the direction',
  own: 'our own: nobody has published it',
};

/** How many passed and which did not, in a few sentences. */
export function headline(reproductions: readonly Reproduction[]): Markup {
  const claims = reproductions.flatMap((reproduction) => reproduction.claims);
  const named = (verdict: Verdict): Claim[] => claims.filter((claim) => claim.verdict === verdict);
  const [passed, missed, expected, shown] = (['pass', 'miss', 'expectedMiss', 'shown'] as const).map(named);
  const judged = claims.length - shown.length;
  const sentences: Insert[] = [];
  if (judged === 0) sentences.push('No result is judged: there is no band to fall into.');
  else if (passed.length === judged)
    sentences.push(html`${allOf(judged)} ${judged === 1 ? 'falls into its band' : 'fall into their bands'}.`);
  else sentences.push(html`<b>${count(passed.length)} of ${count(judged)}</b> results fall into their bands.`);
  if (missed.length > 0) sentences.push(` ${counted(missed, missed.length === 1 ? 'misses' : 'miss')}.`);
  if (expected.length > 0)
    sentences.push(` ${counted(expected, expected.length === 1 ? 'expected miss' : 'expected misses')}.`);
  if (shown.length > 0) {
    sentences.push(
      ` ${WORDS[shown.length] ?? count(shown.length)} more ${shown.length === 1 ? 'is' : 'are'} shown and not judged.`,
    );
  }
  return html`${sentences}`;
}

function allOf(judged: number): Markup {
  return judged === 1 ? html`<b>The one</b> result` : html`<b>All ${count(judged)}</b> results`;
}

function counted(claims: readonly Claim[], what: string): string {
  const names = claims.slice(0, NAMED).map((claim) => claim.name);
  const among = claims.length > NAMED ? 'among them ' : '';
  const listed = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
  const number = WORDS[claims.length] ?? count(claims.length);
  return `${number} ${what}: ${among}${listed}`;
}

/** One coloured bar of all claims, with what it says as text. */
export function scoreHtml(claims: readonly Claim[]): Markup | null {
  if (claims.length === 0) return null;
  const numbers = ORDER.map((verdict) => claims.filter((claim) => claim.verdict === verdict).length);
  const single = claims.length <= PIECES;
  const pieces = ORDER.flatMap((verdict, at) => {
    const { kind } = verdictLooks[verdict];
    if (numbers[at] === 0) return [];
    if (!single) return [html`<i class="${kind}" style="flex-grow:${numbers[at]}"></i>`];
    return Array.from({ length: numbers[at] }, () => html`<i class="${kind}"></i>`);
  });
  const label = ORDER.flatMap((verdict, at) =>
    numbers[at] === 0 ? [] : [`${count(numbers[at])} ${verdictLooks[verdict].label}`],
  ).join(', ');
  return html`<div class="score" role="img" aria-label="${label}">${pieces}</div><p class="tags">${tags(claims)}</p>`;
}

/** The verdicts that occur, each with its number. */
function tags(claims: readonly Claim[]): Markup[] {
  return ORDER.flatMap((verdict) => {
    const number = claims.filter((claim) => claim.verdict === verdict).length;
    const { kind, label } = verdictLooks[verdict];
    return number === 0 ? [] : [html`${tagHtml(kind, `${count(number)} ${label}`)} `];
  });
}

/** Every reproduction of a page with its verdicts. */
export function overviewHtml(reproductions: readonly Reproduction[]): Markup {
  const rows = reproductions.map(
    ({ id, title, paper, tightness, scale, claims }) =>
      html`<tr><td><a href="#${slug(id)}">${id}</a><div class="what">${title}</div></td><td>${paper}</td><td>${classTexts[tightness]}</td><td>${scale}</td><td>${claims.length === 0 ? '–' : tags(claims)}</td></tr>`,
  );
  const head = ['reproduction', 'paper', 'class', 'scale', 'verdicts'].map(
    (name) => html`<th scope="col">${name}</th>`,
  );
  return html`<div class="tw" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}
