import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type NamedResult, runExperiment } from '@flashstack/experiment';
import { exportResults, writeResult } from '@flashstack/experiment/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documents, root } from './workspace.js';

// Taken anew here, so that the tests run what the documentation says now.
execFileSync(process.execPath, [`${root}scripts/snippets.mjs`]);
const folder = `${root}test/snippets/`;
const snippets = readdirSync(folder).sort();

test.each(snippets)('%s runs', async (name) => {
  // A snippet checks its own results and throws when they are wrong.
  await expect(import(`${folder}${name}`)).resolves.toBeDefined();
});

/** Contents of the fenced blocks of a language. */
function blocks(path: string, language: string): string[] {
  const text = readFileSync(`${root}${path}`, 'utf8');
  return [...text.matchAll(/^```(\w+)[^\n]*\n(.*?)^```$/gms)]
    .filter((block) => block[1] === language)
    .map((block) => block[2] ?? '');
}

/** A command that goes on after a backslash, on one line. */
const joined = (command: string): string => command.replace(/\\\n\s*/g, '');

/** Command lines of the ```sh blocks, each on one line. */
const shellLines = (path: string): string[] => blocks(path, 'sh').flatMap((block) => joined(block).split('\n'));

/** Command lines that start with the project's own command, and those that write a small file for it. A comment remains
 * if it says with which exit code a command ends by design: `# exit code 1`. */
const commandLines = (path: string): string[] =>
  shellLines(path)
    .map((line) => line.replace(/ +#(?! exit code \d+$).*$/, '').trim())
    .filter((line) => /^npm run -s flashstack -- |^printf '[^']*' > out\/[\w.-]+$/.test(line));

const commands = [...new Set(documents().flatMap(commandLines))];

/** What a ```text block shows: the output of the only command of the ```sh block before it. */
interface Shown {
  readonly path: string;
  /** Both blocks, as they stand in the page. */
  readonly block: string;
  readonly command: string;
  readonly output: string;
}
const shown: readonly Shown[] = documents().flatMap((path) =>
  [
    ...readFileSync(`${root}${path}`, 'utf8').matchAll(
      /^```sh\n((?:[^\n]*\\\n)*[^\n]+)\n```\n\n```text\n(.*?)^```$/gms,
    ),
  ].map(([block, command, output]) => ({ path, block, command: joined(command), output })),
);

/** Takes the shown output anew instead of comparing it, for those who changed what a command prints. */
const update = process.env.FLASHSTACK_UPDATE_DOCS !== undefined;

// Commands of the pages write their files there.
mkdirSync(`${root}out`, { recursive: true });

test.runIf(commands.length > 0).each(commands)('%s', (line) => {
  const {
    status,
    stdout: output,
    stderr,
  } = spawnSync('bash', ['-o', 'pipefail', '-c', line], {
    cwd: root,
    encoding: 'utf8',
    timeout: 300_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(status, stderr).toBe(Number(/ # exit code (\d+)$/.exec(line)?.[1] ?? 0));
  if (!line.startsWith('printf')) expect(output.length).toBeGreaterThan(0);
  for (const { path, block, output: expected } of shown.filter(({ command }) => command === line)) {
    if (update) {
      const text = readFileSync(`${root}${path}`, 'utf8');
      const taken = `${block.slice(0, block.length - expected.length - '```'.length)}${output}\`\`\``;
      writeFileSync(
        `${root}${path}`,
        text.replace(block, () => taken),
      );
    } else {
      expect(output, `${path} shows another output; FLASHSTACK_UPDATE_DOCS=1 takes it anew`).toBe(expected);
    }
  }
});

test('every shell block of the documentation is one that is tested or one that says it is not', () => {
  const known = [
    /^npm run -s flashstack -- /,
    /^printf '[^']*' > out\/[\w.-]+$/,
    /^npm (start|test|install|run (test:long|bench|docs|format|build))/,
    /^npx vitest /,
    /^pnpm (bench|changeset)/,
    /^git clone /,
    // .ci/run does both before the tests.
    /^(apt-get install|packages\/linux-guest\/build\.sh) /,
    /^cd /,
    /^mkdir -p out$/,
    /^#/,
  ];
  const unknown = documents().flatMap((path) =>
    shellLines(path)
      .filter((line) => line.trim() !== '' && !known.some((pattern) => pattern.test(line.trim())))
      .map((line) => `${path}: ${line}`),
  );
  expect(unknown).toEqual([]);
});

test('pages show output, which is compared above', () => {
  const untested = shown
    .filter(({ command }) => !commands.includes(command))
    .map(({ path, command }) => `${path}: ${command}`);
  expect(untested).toEqual([]);
  expect(shown.length).toBeGreaterThan(2);
});

test('every file that a page shows is the file of that name', () => {
  let shown = 0;
  for (const path of documents()) {
    const text = readFileSync(`${root}${path}`, 'utf8');
    for (const block of text.matchAll(/^```\w+ \[([^\]]+)\]\n(.*?)^```$/gms)) {
      const [, file, contents] = block;
      expect(existsSync(`${root}${file}`), `${path} shows ${file}`).toBe(true);
      expect(contents, `${path} shows ${file}`).toBe(readFileSync(`${root}${file}`, 'utf8'));
      shown++;
    }
  }
  expect(shown).toBeGreaterThan(5);
});

describe('SQL of the documentation', () => {
  const queries = documents().flatMap((path) =>
    blocks(path, 'sql')
      .flatMap((block) => block.split(/;\s*\n/))
      .filter((query) => query.trim() !== '')
      .map((query) => [path, query] as const),
  );
  const folder = mkdtempSync(`${tmpdir()}/flashstack-sql-`);
  let database: DuckDBConnection;

  // What the pages presuppose: a folder of tables and a folder of results.
  beforeAll(async () => {
    const results: NamedResult[] = [];
    for (const seed of [1, 2]) {
      const result = await runExperiment({
        device: { preset: 'mqsim-b8', capacityBytes: 256 * 2 ** 20 },
        workload: { kind: 'random', parameters: { requests: 2000 } },
        seed,
      });
      results.push({ run: 'small', result });
      mkdirSync(`${folder}/results`, { recursive: true });
      writeResult(result, `${folder}/results`, `small-${seed}`);
    }
    for (const tables of ['sweep', 'tables']) {
      mkdirSync(`${folder}/${tables}`);
      exportResults(results, 'parquet', `${folder}/${tables}`);
    }
    database = await (await DuckDBInstance.create()).connect();
  });
  afterAll(() => {
    database.closeSync();
    rmSync(folder, { recursive: true });
  });

  test.runIf(queries.length > 0).each(queries)('%s', async (_, query) => {
    const answer = await database.runAndReadAll(
      query.replace(/'(?:out\/)?(sweep|tables|results)\//g, `'${folder}/$1/`),
    );
    const rows = answer.getRowsJson();
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.flat()).not.toContain(null);
  });
});
