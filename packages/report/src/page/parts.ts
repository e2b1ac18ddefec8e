import { type Drawing, type Figure, isDrawn, NARROW, type Table, wideWidth } from '../figure.js';
import { html, type Insert, type Markup, trusted } from '../markup.js';
import type { Canvas, Size } from '../plot/canvas.js';
import type { Swatch } from '../tokens.js';

/** A number with its unit in large type, and what belongs to it. */
export interface KeyFigure {
  readonly label: string;
  readonly value: string;
  readonly unit: string;
  readonly remark: string;
}

/** A section of a page, with what the bar of sections calls it. */
export interface Section {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly intro?: Insert;
  readonly body: readonly Insert[];
}

/** A figure in a page: title, caption, both drawings, legend, numbers. */
export function figureHtml(figure: Figure, canvas: Canvas): Markup {
  const { id, title, caption, span, legend, scale, table } = figure;
  const label = html`<figcaption><h3>${title}</h3>${caption === null ? null : html`<p class="cap">${caption}</p>`}</figcaption>`;
  if (!isDrawn(figure)) {
    return html`<figure class="s${span}" id="${id}">${label}<p class="call">${(figure.content as { missing: string }).missing}</p></figure>\n`;
  }
  const { content } = figure;
  const wide = wideWidth(span);
  const slim = drawingHtml(content, { width: NARROW, height: content.heights[1], narrow: true }, canvas);
  const drawings =
    wide <= NARROW
      ? html`<div class="slim">${slim}</div>`
      : html`<div class="wide">${drawingHtml(content, { width: wide, height: content.heights[0], narrow: false }, canvas)}</div><div class="slim">${slim}</div>`;
  return html`<figure class="s${span}" id="${id}">${label}${scale ?? null}<div class="fig" role="img" aria-label="${title}">${drawings}</div>${
    legend === undefined ? null : legendHtml(legend)
  }${table === undefined ? null : html`<details><summary>Show the numbers</summary>${tableHtml(table)}</details>`}</figure>\n`;
}

function drawingHtml(drawing: Drawing, size: Size, canvas: Canvas): Markup {
  const svg = trusted(canvas.draw(drawing.sketch(size), size));
  if (drawing.time === undefined) return svg;
  const margins = drawing.time(size);
  const left = (margins.left / size.width) * 100;
  const width = 100 - left - (margins.right / size.width) * 100;
  return html`<div class="at" style="--l:${left.toFixed(2)}%;--w:${width.toFixed(2)}%">${svg}<i class="cursor"></i></div>`;
}

/** A legend: each colour with its name. */
function legendHtml(entries: readonly Swatch[]): Markup {
  return html`<ul class="leg">${entries.map(({ token, label, hatched, outlined }) =>
    outlined === true
      ? html`<li><i class="sw diamond" style="border-color:var(--${token})"></i>${label}</li>`
      : html`<li><i class="sw${hatched ? ' hatch' : ''}" style="background-color:var(--${token})"></i>${label}</li>`,
  )}</ul>`;
}

/** A table that scrolls by itself where it is too wide. */
export function tableHtml(table: Table): Markup {
  const right = new Set(table.numeric);
  const head = table.head.map(
    (cell, i) => html`<th scope="col"${right.has(i) ? trusted(' class="num"') : null}>${cell}</th>`,
  );
  const rows = table.rows.map((row) => {
    if ('group' in row) return html`<tr class="grp"><td colspan="${table.head.length}">${row.group}</td></tr>`;
    return html`<tr>${row.map((cell, i) => html`<td${right.has(i) ? trusted(' class="num"') : null}>${cell}</td>`)}</tr>`;
  });
  return html`<div class="tw" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A table that stands as a figure. */
export function panelHtml(span: Figure['span'], title: string, caption: Insert, body: Insert): Markup {
  return html`<div class="panel s${span}"><h3>${title}</h3>${caption === null ? null : html`<p class="cap">${caption}</p>`}${body}</div>\n`;
}

/** Six figures in large type. */
export function keyFiguresHtml(figures: readonly KeyFigure[]): Markup {
  return html`<div class="kpis">${figures.map(
    ({ label, value, unit, remark }) =>
      html`<div class="kpi"><div class="l">${label}</div><div class="v">${value}<small>${unit}</small></div><div class="n">${remark}</div></div>`,
  )}</div>`;
}

/** The state of a run or of a judgement, with its symbol. */
export function tagHtml(kind: 'pass' | 'miss' | 'warn' | 'skip', label: string): Markup {
  return html`<span class="tag ${kind}">${{ pass: '✓', miss: '✗', warn: '◐', skip: '○' }[kind]} ${label}</span>`;
}
