/** A name as an anchor and as part of a file name: small letters, digits, single hyphens. */
export function slug(name: string): string {
  const text = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return text === '' ? 'unnamed' : text;
}

/** What a figure is called among those of several reproductions, in a page and in a folder. No slug holds two hyphens, so that two names never meet. */
export function figureName(reproduction: string, figure: string): string {
  return `${slug(reproduction)}--${slug(figure)}`;
}
