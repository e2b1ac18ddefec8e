// `npm run -s flashstack -- …`: the command line out of the workspace, set up and built if that is needed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const main = `${root}apps/flashstack/dist/main.js`;

/** Time of the newest source file below a folder. */
function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function sourcesChanged() {
  if (!existsSync(main)) return true;
  const built = statSync(main).mtimeMs;
  const folders = ['packages', 'apps']
    .flatMap((part) => readdirSync(`${root}${part}`).map((name) => `${root}${part}/${name}/src`))
    .filter((folder) => existsSync(folder));
  return folders.some((folder) => newest(folder) > built);
}

// stdout belongs to the command; what setting up says goes to stderr.
function prepare(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 3);
}

prepare(process.execPath, [`${root}scripts/bootstrap.mjs`], root);
if (sourcesChanged())
  prepare(process.execPath, [`${root}node_modules/tsup/dist/cli-default.js`, '--silent'], `${root}apps/flashstack`);

// In this process, so that signals reach the command and its exit code is ours.
process.argv[1] = main;
await import(pathToFileURL(main).href);
