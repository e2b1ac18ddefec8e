import { readFileSync } from 'node:fs';
import { runCli } from './cli.js';
import { nodeHost } from './node-host.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

process.exitCode = await runCli(process.argv.slice(2), nodeHost(), {
  version,
  demoTraces: new URL('./traces/', import.meta.url),
});
