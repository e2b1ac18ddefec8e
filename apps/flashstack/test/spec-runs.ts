import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { ExperimentResult } from '@flashstack/experiment';
import { fixtureUrl } from '@flashstack/fixtures';
import { runCli } from '../src/cli.js';
import { FakeHost } from './fake-host.js';

/** A trace that comes with the project. */
export const postgres: string = fileURLToPath(fixtureUrl('postgres.msr.csv.gz'));
const settings = { version: '1.2.3', demoTraces: new URL('./', fixtureUrl('postgres.msr.csv.gz')) };

/** A new folder of its own. */
export const folder = (): string => mkdtempSync(`${tmpdir()}/flashstack-`);

/** What a command has written, and its exit code. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command. */
export async function cli(
  args: readonly string[],
  host: FakeHost = new FakeHost({ env: { LANG: 'C' } }),
): Promise<Outcome> {
  const code = await runCli(args, host, settings);
  return { code, out: host.out, err: host.err };
}

/** A spec that runs in less than a second. */
export const text = `
device: { preset: mqsim-b8, capacity: 128MiB, overProvisioning: 25% }
workload: { kind: random, requests: 20k, readShare: 0.3 }
precondition: fill
nand: { geometry: { channels: 4, planes: 1, blocksPerPlane: 80 } }
`;

/** A file with a spec, in a folder of its own. */
export function spec(contents: string = text, name = 'small.yaml'): string {
  const path = `${folder()}/${name}`;
  writeFileSync(path, contents);
  return path;
}

/** The result in a file. */
export const read = (path: string): ExperimentResult => JSON.parse(readFileSync(path, 'utf8')) as ExperimentResult;
