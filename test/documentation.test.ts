import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documents, filesBelow, members, root } from './workspace.js';

// Links and anchors of the pages as they are read in the repository. Those of the site are checked by its build.

/** A page without its code: what looks like a link or a heading in there is none. */
function prose(path: string): string {
  return readFileSync(`${root}${path}`, 'utf8')
    .replace(/^```.*?^```$/gms, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ' '));
}

/** The anchors of a page, as GitHub and the site make them from headings. */
function anchors(path: string): Set<string> {
  const text = readFileSync(`${root}${path}`, 'utf8').replace(/^```.*?^```$/gms, '');
  const found = new Set<string>();
  for (const [, heading] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[`*_]/g, '')
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    let name = slug;
    for (let n = 1; found.has(name); n++) name = `${slug}-${n}`;
    found.add(name);
  }
  return found;
}

/** The file that a link leads to, or null; links of the site may leave out `.md` and start at `docs/`. */
function target(from: string, link: string): string | null {
  const path = normalize(link.startsWith('/') ? `docs${link}` : join(dirname(from), link)).replace(/\/$/, '');
  const candidates = from.startsWith('docs/') ? [`${path}.md`, `${path}/index.md`, path] : [path];
  return candidates.find((file) => existsSync(`${root}${file}`)) ?? null;
}

function problems(page: string): string[] {
  const wrong: string[] = [];
  for (const [, link] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
    // Addresses elsewhere are not fetched; generated pages are checked where they are built.
    if (/^[a-z]+:/.test(link) || link.startsWith('/reference/api/')) continue;
    const [path, anchor] = link.split('#');
    const file = path === '' ? page : target(page, path);
    if (file === null) wrong.push(`${page}: ${link} leads nowhere`);
    else if (anchor !== undefined && !(file.endsWith('.md') && anchors(file).has(anchor)))
      wrong.push(`${page}: ${link} has no such heading`);
    else if (page.startsWith('docs/') && path !== '' && statSync(`${root}${file}`).isDirectory())
      wrong.push(`${page}: ${link} is a folder`);
  }
  return wrong;
}

test('the checker sees links and headings', () => {
  expect(prose('README.md').match(/\]\([^)]+\)/g)?.length).toBeGreaterThan(10);
  expect(anchors('docs/validation/index.md')).toContain('against-closed-forms');
  expect(target('README.md', 'docs/nowhere.md')).toBeNull();
});

test.each(documents())('links of %s lead somewhere', (page) => {
  expect(problems(page)).toEqual([]);
});

const libraries = members().filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private);

describe.each(libraries.map(({ folder }) => folder))('%s', (folder) => {
  test('has a README with model, limits, interface, ways to extend it, validation and references', () => {
    const readme = readFileSync(`${root}${folder}/README.md`, 'utf8');
    const headings = [...readme.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(
      headings.some((heading) => /^What .*, and what .*not$/.test(heading)),
      headings.join(' | '),
    ).toBe(true);
    expect(headings).toEqual(expect.arrayContaining(['API', 'Extension points', 'Validation', 'References']));
    // Headings alone say nothing.
    for (const section of readme.split(/^## /m).slice(1)) expect(section.length, section).toBeGreaterThan(50);
  });

  test('has a page', () => {
    const page = readFileSync(`${root}docs/packages/${folder.slice('packages/'.length)}.md`, 'utf8');
    expect(page).toContain(`<!--@include: ../../${folder}/README.md-->`);
  });
});

test('every page is in the navigation of the site', () => {
  const config = readFileSync(`${root}docs/.vitepress/config.ts`, 'utf8');
  const pages = filesBelow('docs', '.md').filter((path) => /^docs\/(guide|reference)\/[^/]+\.md$/.test(path));
  expect(pages.length).toBeGreaterThan(5);
  const missing = pages.filter((path) => !config.includes(`'${path.replace(/^docs/, '').replace(/\.md$/, '')}'`));
  expect(missing).toEqual([]);
});
