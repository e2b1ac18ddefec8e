import type { Figure } from '../figure.js';
import { html, type Insert, type Markup } from '../markup.js';
import { count, measured } from '../numbers.js';
import { pageHtml } from '../page/page.js';
import { figureHtml, panelHtml, type Section, tableHtml } from '../page/parts.js';
import { Canvas } from '../plot/canvas.js';
import { barsFigure } from './bars.js';
import { checkReproductions } from './check.js';
import { claimsHtml } from './claims.js';
import { linesFigure } from './lines.js';
import { slug } from './names.js';
import { reproductionStyle } from './style.js';
import { classTexts, headline, overviewHtml, scoreHtml } from './summary.js';
import type { Reproduction } from './types.js';

/** What a page of reproductions may be told besides these. */
export interface ReproductionsOptions {
  /** Title of the page; without it name and title of the reproduction, or their number. */
  readonly title?: string;
  /** The command that gives the reproductions again. */
  readonly command?: string;
}

// Anchors of sections that are no reproduction's: no slug holds an underscore.
const OVERVIEW = 's_overview';
const CLAIMS = 's_claims';
const FIGURES = 's_figures';
const HOW = 's_how';

/** Letters of a hash that are shown. */
const HASH = 16;

/**
 * Reproductions of papers as one HTML page: how many results fall into their bands and which do not, published beside
 * simulated values with the reason of each miss, figures, and how it was run. The same reproductions and options give
 * the same bytes.
 * @throws InputError `ERR_REPORT_EMPTY` without a reproduction, `ERR_REPORT_TWICE` for two of one id (or two figures of
 * one), `ERR_REPORT_SCHEMA` for those of another version, `ERR_REPORT_CLAIM` for a verdict that the band contradicts,
 * `ERR_REPORT_FIGURE` for series that do not fit their axes.
 */
export function renderReproductions(
  reproductions: readonly Reproduction[],
  options: ReproductionsOptions = {},
): string {
  checkReproductions(reproductions);
  const canvas = new Canvas();
  const single = reproductions.length === 1;
  const [first] = reproductions;
  const title = options.title ?? (single ? titleOf(first) : `${count(reproductions.length)} reproductions of papers`);
  const claims = reproductions.flatMap((reproduction) => reproduction.claims);
  const how: Section = {
    id: HOW,
    name: 'How it was run',
    title: 'How it was run',
    body: howBody(reproductions, options),
  };
  return pageHtml({
    title: `Reproduction: ${title}`,
    kind: single ? 'paper reproduction' : 'paper reproductions',
    head: html`<h1>${title}</h1><p class="sub">${single ? identity(first) : identities(reproductions)}</p><p class="finding">${headline(reproductions)}</p>${scoreHtml(claims)}`,
    sections: [...(single ? singleSections(first, canvas) : manySections(reproductions, canvas)), how],
    footer: footer(reproductions),
    style: reproductionStyle,
  });
}

/** The figures of a reproduction, in order. */
export function figuresOf(reproduction: Reproduction): Figure[] {
  return reproduction.figures.map((figure) =>
    figure.kind === 'bars' ? barsFigure(figure, reproduction) : linesFigure(figure, reproduction),
  );
}

function singleSections(reproduction: Reproduction, canvas: Canvas): Section[] {
  const shown = [...figuresHtml(reproduction, canvas), ...tablesHtml(reproduction)];
  return [
    {
      id: CLAIMS,
      name: 'Claims',
      title: 'Claims',
      intro: bandsIntro,
      body: [...claimsHtml(reproduction), notesHtml(reproduction)],
    },
    {
      id: FIGURES,
      name: 'Figures',
      title: 'Figures',
      body: [
        shown.length === 0
          ? html`<p class="call">This reproduction has no figure.</p>`
          : html`<div class="g">${shown}</div>`,
      ],
    },
  ];
}

function manySections(reproductions: readonly Reproduction[], canvas: Canvas): Section[] {
  const overview: Section = {
    id: OVERVIEW,
    name: 'Overview',
    title: 'Overview',
    intro: bandsIntro,
    body: [overviewHtml(reproductions)],
  };
  const each = reproductions.map((reproduction): Section => {
    const shown = [...figuresHtml(reproduction, canvas), ...tablesHtml(reproduction)];
    return {
      id: slug(reproduction.id),
      name: reproduction.id,
      title: titleOf(reproduction),
      intro: identity(reproduction),
      body: [
        ...claimsHtml(reproduction),
        notesHtml(reproduction),
        shown.length === 0 ? null : html`<div class="g">${shown}</div>`,
      ],
    };
  });
  return [overview, ...each];
}

const bandsIntro =
  'A band says what a calibrated simulation can honestly claim without the machine of the authors. A result passes if the mean of its seeds lies in the band.';

function titleOf({ id, title }: Reproduction): string {
  return `${id}: ${title}`;
}

/** What was reproduced and how, in one line. */
function identity({ paper, tightness, scale, seeds }: Reproduction): string {
  return `${paper} · ${classTexts[tightness]} · scale: ${scale} · ${seedsText(seeds)}`;
}

function identities(reproductions: readonly Reproduction[]): string {
  const papers = new Set(reproductions.map((reproduction) => reproduction.paper)).size;
  const claims = reproductions.reduce((sum, reproduction) => sum + reproduction.claims.length, 0);
  const seeds = reproductions.map((reproduction) => reproduction.seeds.length);
  const [least, most] = [Math.min(...seeds), Math.max(...seeds)];
  const range = least === most ? plural(most, 'seed') : `${count(least)} to ${plural(most, 'seed')}`;
  return `${plural(papers, 'paper')} · ${plural(claims, 'claim')} · ${range} each`;
}

function seedsText(seeds: readonly number[]): string {
  if (seeds.length === 0) return 'nothing is drawn at random';
  const listed = seeds.length > 5 ? '' : ` (${seeds.join(', ')})`;
  return `${plural(seeds.length, 'seed')}${listed}`;
}

function plural(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? '' : 's'}`;
}

function figuresHtml(reproduction: Reproduction, canvas: Canvas): Markup[] {
  return figuresOf(reproduction).map((figure) => figureHtml(figure, canvas));
}

function tablesHtml({ tables }: Reproduction): Markup[] {
  return tables.map(({ title, head, rows }) => {
    const columns = head.map((_, at) => at);
    const numeric = columns.filter((at) => rows.length > 0 && rows.every((row) => typeof row[at] === 'number'));
    const cell = (value: string | number): string =>
      typeof value === 'string' ? value : Number.isInteger(value) ? count(value) : measured(value);
    return panelHtml(
      head.length > 4 ? 12 : 6,
      title,
      null,
      tableHtml({ head, rows: rows.map((row) => row.map(cell)), numeric }),
    );
  });
}

function notesHtml({ notes }: Reproduction): Markup | null {
  return notes.length === 0 ? null : html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`;
}

function howBody(reproductions: readonly Reproduction[], options: ReproductionsOptions): Insert[] {
  const several = reproductions.length > 1;
  const claims = reproductions.flatMap((reproduction) => reproduction.claims);
  const timed = claims.filter((claim) => claim.basis === 'time').length;
  const rows = reproductions.map(({ id, paper, tightness, scale, seeds }) => [
    html`<code>${id}</code>`,
    paper,
    classTexts[tightness],
    scale,
    seedsText(seeds),
  ]);
  const runs = reproductions.flatMap(({ id, runs }) =>
    runs.map(({ name, specHash, seed }) => [
      ...(several ? [html`<code>${id}</code>`] : []),
      name,
      html`<code>${specHash.slice(0, HASH)}</code>`,
      String(seed),
    ]),
  );
  const head = [...(several ? ['reproduction'] : []), 'run', 'spec hash', 'seed'];
  const runTable = tableHtml({ head, rows: runs, numeric: [head.length - 1] });
  return [
    html`<p class="sub">${calibration(claims.length, timed)}</p>`,
    tableHtml({ head: ['reproduction', 'paper', 'class', 'scale', 'seeds'], rows, numeric: [] }),
    options.command === undefined ? null : html`<pre tabindex="0">${options.command}</pre>`,
    runs.length === 0
      ? html`<p class="cap">No run is behind ${several ? 'these' : 'this'}: the values are computed.</p>`
      : html`<details><summary>The ${plural(runs.length, 'run')} behind the values</summary>${runTable}</details>`,
  ];
}

/** What the values rest on. */
function calibration(claims: number, timed: number): string {
  const exact = claims - timed;
  const parts: string[] = [];
  if (exact > 0)
    parts.push(
      `${plural(exact, 'claim')} count${exact === 1 ? 's' : ''} events or sizes: exact for the model, whatever its timings are.`,
    );
  if (timed > 0)
    parts.push(
      `${plural(timed, 'claim')} ${timed === 1 ? 'is' : 'are'} about simulated time, which is as good as the calibration of the drive that was used: values that served to fit a drive prove nothing about it.`,
    );
  return parts.length === 0 ? 'Nothing is compared with a paper.' : parts.join(' ');
}

function footer(reproductions: readonly Reproduction[]): string {
  const versions = reproductions.flatMap(({ versions }) => Object.entries(versions).map((pair) => pair.join(' ')));
  const made = [...new Set(versions)];
  const by = made.length === 0 ? '' : ` Made by ${made.join(', ')}.`;
  return `Diamond: published; dotted: the paper says “about”, “up to”, “more than” or “no difference”, or gives a range. Circle: simulated, the mean of the seeds, with their range. Square: outside of the band. Each strip has its own scale. Rates are decimal (1\u00a0MB/s = 10⁶\u00a0B/s).${by}`;
}
