/** A piece of HTML that is safe to insert as it stands. Only {@link html} and {@link trusted} make one. */
export class Markup {
  /** The HTML text. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a hole of {@link html}: strings and numbers are escaped, markup is not. */
export type Insert = string | number | Markup | null | readonly Insert[];

/** Builds HTML. Everything inserted is escaped unless it is markup, so that names given by users are only ever text. */
export function html(literals: TemplateStringsArray, ...inserts: readonly Insert[]): Markup {
  let text = literals[0];
  for (let at = 0; at < inserts.length; at++) text += toText(inserts[at]) + literals[at + 1];
  return new Markup(text);
}

/** Markup made by code of this package, such as a drawing: never of anything a user gave. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

/** Text as it must stand in HTML content and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function toText(insert: Insert): string {
  if (insert === null) return '';
  if (insert instanceof Markup) return insert.text;
  if (typeof insert === 'string') return escapeHtml(insert);
  if (typeof insert === 'number') return String(insert);
  return insert.map(toText).join('');
}
