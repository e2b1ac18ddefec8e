import { type Command, Option } from 'commander';
import { type ReplayFlags, runCrashReplay } from './crash-replay-command.js';
import { type CrashReportFlags, type MergeFlags, runCrashMerge, runCrashReport } from './crash-report-command.js';
import { type CrashFlags, runCrash } from './crash-run-command.js';
import type { Session, SessionFlags } from './session.js';

/** What the commands of `crash` share with all others. */
export interface CommandParts {
  common(command: Command): Command;
  collect(text: string, before?: readonly string[]): readonly string[];
  session(flags: SessionFlags): Session;
  ends(code: number): void;
  readonly exitCodes: string;
}

/** `flashstack crash`: run, replay, report and merge. */
export function addCrash(root: Command, parts: CommandParts): void {
  const crash = root.command('crash').description('cut the power of a file system everywhere, and judge what is left');
  addRun(crash, parts);
  addReplay(crash, parts);
  addReport(crash, parts);
  addMerge(crash, parts);
}

function addRun(crash: Command, { common, collect, session, ends, exitCodes }: CommandParts): void {
  common(crash.command('run').description('explore a file system: workloads, power cuts, recovery, verdicts'))
    .requiredOption('--fs <name>', 'file system')
    .option('--module <file>', 'file systems of your own; repeatable', collect)
    .option('--set <key=value>', 'parameter of the file system; repeatable', collect)
    .option('--capacity <size>', 'size of its volume', '1MiB')
    .option('--rules <name>', 'promises it is held to; default: its own, or posix')
    .option('--seq <n>', 'all workloads of 1, 2 or 3 core operations; default: 1')
    .option('--persistence <where>', 'with --seq, fsync and its kind: anywhere or last; default: anywhere')
    .option('--random <n>', 'random workloads of about n operations')
    .option('--programs <n>', 'with --random: programs beside each other')
    .option('--workload <file>', 'workloads of your own, in YAML')
    .option('--budget <n|time>', 'so many workloads (drawn by the seed), or for so long (30s, 5min)')
    .option('--shard <i/n>', 'every n-th workload, from the i-th on; see "crash merge"', '1/1')
    .option('--seed <n>', 'seed of everything drawn', '1')
    .addOption(
      new Option(
        '--model <name>',
        'what the drive does with what it has not promised: volatile, torn, ordered, protected, shorn, unreadable, lying(n)',
      ).default('volatile'),
    )
    .option('--overlap', 'requests take time and complete in any order')
    .option('--depth <n>', 'power cuts in a row, 1 to 3: also during recovery', '2')
    .option('--images <n>', 'most images of a power cut, or all', '64')
    .option('--out <file>', 'write the result, for "crash merge" and "crash report"')
    .option('--cases <dir>', 'write each failure into a file, for "crash replay"')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', exitCodes)
    .action(async (flags: CrashFlags & SessionFlags) => ends(await runCrash(flags, session(flags))));
}

function addMerge(crash: Command, { common, session, ends }: CommandParts): void {
  common(
    crash
      .command('merge')
      .description('put the results of shards together')
      .argument('<result...>', 'results of "crash run"'),
  )
    .requiredOption('--out <file>', 'write the result')
    .option('--cases <dir>', 'write each failure into a file')
    .option('--json', 'print the result as JSON')
    .action((paths: readonly string[], flags: MergeFlags & SessionFlags) =>
      ends(runCrashMerge(paths, flags, session(flags))),
    );
}

function addReplay(crash: Command, { common, collect, session, ends }: CommandParts): void {
  common(
    crash
      .command('replay')
      .description('run failures again, and tell what happens')
      .argument('<case...>', 'files of --cases'),
  )
    .option('--module <file>', 'instead of the modules that the file names; repeatable', collect)
    .option('--image <file>', 'write the volume as the last power cut leaves it')
    .option('--json', 'print JSON')
    .action(async (paths: readonly string[], flags: ReplayFlags & SessionFlags) =>
      ends(await runCrashReplay(paths, flags, session(flags))),
    );
}

function addReport(crash: Command, { common, session, ends }: CommandParts): void {
  common(
    crash
      .command('report')
      .description('say what results hold, as text and as a page; shards are put together')
      .argument('<result...>', 'results of "crash run"'),
  )
    .option('--out <file>', 'write a page that needs nothing else')
    .action(async (paths: readonly string[], flags: CrashReportFlags & SessionFlags) =>
      ends(await runCrashReport(paths, flags, session(flags))),
    );
}
