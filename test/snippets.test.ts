import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documents, root } from './workspace.js';

// Taken anew here, so that the tests run what the documentation says now.
execFileSync(process.execPath, [`${root}scripts/snippets.mjs`]);
const folder = `${root}test/snippets/`;
const snippets = readdirSync(folder).sort();

test.each(snippets)('%s runs', async (name) => {
  // A snippet checks its own results and throws when they are wrong.
  await expect(import(`${folder}${name}`)).resolves.toBeDefined();
});

/** Command lines in ```sh blocks that start with the project's own command. */
function commandLines(path: string): string[] {
  const text = readFileSync(`${root}${path}`, 'utf8');
  return [...text.matchAll(/^```sh *\n(.*?)^```$/gms)]
    .flatMap((block) => (block[1] ?? '').replace(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/ +#.*$/, '').trim())
    .filter((line) => /^npm run -s flashstack -- /.test(line));
}

const commands = [...new Set(documents().flatMap(commandLines))];

test.runIf(commands.length > 0).each(commands)('%s', (line) => {
  const output = execFileSync('bash', ['-o', 'pipefail', '-c', line], {
    cwd: root,
    encoding: 'utf8',
    timeout: 300_000,
  });
  expect(output.length).toBeGreaterThan(0);
});

test('every shell block of the documentation is one that is tested or one that says it is not', () => {
  const known = [
    /^npm run -s flashstack -- /,
    /^npm (start|test|install|run (test:long|bench|docs|format|build))/,
    /^npx vitest /,
    /^pnpm (bench|changeset)/,
    /^git clone /,
    /^cd /,
    /^#/,
  ];
  const unknown = documents().flatMap((path) => {
    const text = readFileSync(`${root}${path}`, 'utf8');
    return [...text.matchAll(/^```sh *\n(.*?)^```$/gms)]
      .flatMap((block) => (block[1] ?? '').replace(/\\\n\s*/g, '').split('\n'))
      .filter((line) => line.trim() !== '' && !known.some((pattern) => pattern.test(line.trim())))
      .map((line) => `${path}: ${line}`);
  });
  expect(unknown).toEqual([]);
});
