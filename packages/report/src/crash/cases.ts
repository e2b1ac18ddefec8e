import { html, type Insert, type Markup, trusted } from '../markup.js';
import { count } from '../numbers.js';
import { tagHtml } from '../page/parts.js';
import type { Token } from '../tokens.js';
import type { CrashFailure } from './types.js';

/** Colour of a request by who caused it. */
const origins: readonly (readonly [RegExp, Token])[] = [
  [/^flush$/, 'buffer'],
  [/\(.*journal.*\)/, 'journal'],
  [/\(.*(?:checkpoint|superblock).*\)/, 'checkpoint'],
  [/\(.*data.*\)/i, 'hostData'],
  [/\(.*(?:map|bitmap).*\)/, 'mapping'],
];

/** A failure: what is violated, what it takes, what happens, and what is left. */
export function failureHtml(failure: CrashFailure, title: string): Markup {
  const { rule, path, text, number, operations, steps, timeline, difference } = failure;
  const programs = steps.length === 1 ? steps[0] : steps.map((one, at) => `program ${at + 1}: ${one}`).join('\n');
  const found = `Found in workload ${count(number + 1)} of ${count(operations)} operation${operations === 1 ? '' : 's'}; this is what is left of it:`;
  const events = timeline.filter((line) => /^\s*\d+ /.test(line));
  const left =
    difference.length === 0
      ? html`<p class="cap">There is no tree to compare.</p>`
      : html`<ul class="diff">${difference.map(differenceHtml)}</ul>`;
  return html`<article class="case"><h3>${tagHtml('miss', rule)}<span>${title}</span></h3><p>${path === '' ? null : html`<code>${path}</code> `}${text}</p><p class="what">${found}</p><pre tabindex="0">${programs}</pre><div class="g"><div class="s7"><p class="what">Operations and requests in order, to the power cut</p><ol class="time">${events.map(eventHtml)}</ol></div><div class="s5"><p class="what">As programs had made it (−), as recovery leaves it (+), changed (!)</p>${left}</div></div></article>\n`;
}

function eventHtml(line: string): Markup {
  const [, position, request, text] = /^\s*(\d+) (\s*#\d+ )?(.*)$/.exec(line) as RegExpExecArray;
  const [kind, dot] = kindOf(request ?? '', text);
  const style = dot === null ? null : trusted(` style="--dot:var(--${dot})"`);
  return html`<li class="${kind}"${style}><b>${position}</b><i></i><span>${(request ?? '').trimStart()}${text}</span></li>`;
}

function kindOf(request: string, text: string): [kind: string, dot: Token | null] {
  if (request !== '') {
    const origin = origins.find(([pattern]) => pattern.test(text));
    return ['req', origin?.[1] ?? 'fsNode'];
  }
  if (/power cut|last moment/.test(text)) return ['cut', null];
  return [/is acknowledged$|fails with/.test(text) ? 'op done' : 'op', null];
}

function differenceHtml(line: string): Insert {
  const kind = ({ '-': 'minus', '+': 'plus' } as Readonly<Record<string, string>>)[line[0]] ?? 'same';
  return html`<li class="${kind}">${line.replace(/^-/, '−')}</li>`;
}
