import { html, type Insert, type Markup, trusted } from '../markup.js';
import { hatchPattern } from '../plot/canvas.js';
import type { Section } from './parts.js';
import { script } from './script.js';
import { style } from './style.js';

/** A report: what stands above the sections, the sections, what stands below. */
export interface Page {
  readonly title: string;
  /** What kind of report it is, beside the project's name. */
  readonly kind: string;
  readonly head: Insert;
  readonly sections: readonly Section[];
  readonly footer: Insert;
  /** Rules of style that only pages of this kind need. */
  readonly style?: string;
}

const logo: Markup = trusted(
  '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true"><g fill="none" stroke-width="2.4" stroke-linejoin="round"><path d="M2 13.6l8 4 8-4" stroke="var(--gc)"/><path d="M2 9.8l8 4 8-4" stroke="var(--cleaning)"/><path d="M2 6l8-4 8 4-8 4z" stroke="var(--hostData)" fill="var(--hostData)"/></g></svg>',
);

/** One file that asks for nothing else: no address, no font, no image; whole without scripts. */
export function pageHtml(page: Page): string {
  const { title, kind, head, sections, footer } = page;
  const toc = sections.map(({ id, name }) => html`<a href="#${id}">${name}</a>`);
  const body = sections.map(
    (section) =>
      html`<section id="${section.id}"><h2>${section.title}</h2>${
        section.intro === undefined ? null : html`<p class="sub">${section.intro}</p>`
      }${section.body}</section>\n`,
  );
  const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title><link rel="icon" href="data:,"><style>${trusted(style + (page.style ?? ''))}</style></head><body>
<svg width="0" height="0" class="vh" aria-hidden="true">${trusted(hatchPattern())}</svg>
<header class="top"><div class="wrap"><div class="brand">${logo}<b>flashstack</b><span>${kind}</span><span class="gap"></span><button class="script" data-switch type="button" aria-label="switch between light and dark">◐ theme</button></div></div></header>
<div class="wrap">${head}</div>
<nav class="toc" aria-label="sections"><div class="wrap">${toc}</div></nav>
<main class="wrap">${body}<footer>${footer}</footer></main>
<script>${trusted(script)}</script></body></html>
`.text;
}
