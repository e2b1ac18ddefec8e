// Copies every ```ts block of the READMEs and the docs into test/snippets, where it is type-checked like any source
// and executed by test/snippets.test.ts. A block that is an excerpt, not a program, is marked ```ts excerpt.
// The generated API reference is left out: it shows signatures, no programs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const target = `${root}test/snippets/`;

function* markdown(folder) {
  for (const entry of readdirSync(`${root}${folder}`, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (path === 'docs/reference/api') continue;
    if (entry.isDirectory()) yield* markdown(path);
    else if (entry.name.endsWith('.md') && entry.name !== 'CHANGELOG.md') yield path;
  }
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
let count = 0;
const folders = ['packages', 'apps', 'docs'].filter((folder) => existsSync(`${root}${folder}`));
for (const path of ['README.md', ...folders.flatMap((folder) => [...markdown(folder)])]) {
  if (!existsSync(`${root}${path}`)) continue;
  const text = readFileSync(`${root}${path}`, 'utf8');
  let index = 0;
  for (const match of text.matchAll(/^```ts *([^\n]*)\n(.*?)^```$/gms)) {
    index++;
    if (match[1].trim() === 'excerpt') continue;
    const line = text.slice(0, match.index).split('\n').length + 1;
    const name = `${path.replace(/\.md$/, '').replaceAll('/', '.')}.${index}.ts`;
    // The marker makes a module of a snippet that exports nothing.
    writeFileSync(`${target}${name}`, `// ${path}:${line}\n${match[2]}\nexport {};\n`);
    count++;
  }
}
process.stdout.write(`${count} snippets\n`);
