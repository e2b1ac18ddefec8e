import { readaheadKinds } from '@flashstack/pagecache-readahead';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { addCrash } from './crash-flags.js';
import { runDemo } from './demo-command.js';
import { listDevices, showDevice } from './devices-command.js';
import { ExitCode } from './exit-code.js';
import type { ExperimentFlags } from './experiment-command.js';
import { addImage } from './image/flags.js';
import { InterruptedError } from './interrupt.js';
import { type MappingSizeFlags, runMappingSize } from './mapping-size-command.js';
import { addFlags, specFlags, traceFlags } from './option-flags.js';
import { type ReadaheadFlags, runReadahead } from './readahead-command.js';
import { describeError, exitCodeOf } from './report-error.js';
import { type ReproduceFlags, runReproduce } from './reproduce-command.js';
import { type ReportFlags, runCompare, runExport, runReport } from './results-command.js';
import { runReplay, runRun, type SpecFlags } from './run-command.js';
import { runSchema } from './schema-command.js';
import { Session, type SessionFlags } from './session.js';
import { type ColorMode, type Host, type Style, styleFor } from './terminal.js';
import { runTraceConvert, runTraceInfo } from './trace-command.js';
import { runValidate, type ValidateFlags } from './validate-command.js';

const exitCodes = `
Exit codes:
  0    done
  1    the answer is no: the drive failed requests, a figure is missed, a power
       cut loses something, or an image is damaged
  2    wrong input or usage
  3    input or output failed on this machine, or flashstack itself did
  130  interrupted; the partial result has been printed, with --out also kept

The result goes to stdout, everything else to stderr. More: docs/ in the
repository, and "flashstack COMMAND --help".`;

/** What the command line is made of, besides the machine. */
export interface CliSettings {
  readonly version: string;
  /** Folder of the traces that `demo` replays. */
  readonly demoTraces: URL;
}

/** Runs one command line (without the program's name) and returns its exit code. Never throws. */
export async function runCli(args: readonly string[], host: Host, settings: CliSettings): Promise<number> {
  // Errors before the options are known, and about them, follow the environment alone.
  const early = styleFor(host, host.stderr, colorIn(args), args.includes('--ascii'));
  try {
    const outcome = { code: ExitCode.done as number };
    await program(host, settings, outcome).parseAsync([...args], { from: 'user' });
    return outcome.code;
  } catch (error) {
    if (error instanceof CommanderError) return reportUsage(error, host, early);
    if (error instanceof InterruptedError) {
      host.stderr.write(`${early.tone('attention', early.attention)} ${error.message}\n`);
      return ExitCode.interrupted;
    }
    host.stderr.write(describeError(error, early));
    if (args.includes('--debug')) {
      for (let at = error; at instanceof Error; at = at.cause) host.stderr.write(`${at.stack}\n`);
    }
    return exitCodeOf(error);
  }
}

function reportUsage(error: CommanderError, host: Host, style: Style): number {
  // Help and version have been printed by then.
  if (error.exitCode === 0) return ExitCode.done;
  if (error.code !== 'commander.help') {
    const text = error.message.replace(/^error: /, '').replace(/\n\(Did you mean (.*)\?\)/, '. Did you mean $1?');
    host.stderr.write(describeError(new CommanderError(2, error.code, text), style));
  }
  return ExitCode.usage;
}

function program(host: Host, settings: CliSettings, outcome: { code: number }): Command {
  const root = new Command('flashstack')
    .description(
      'Simulates flash storage under recorded and synthetic workloads, and shows where\ntime and write amplification go.',
    )
    .version(settings.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => 79,
      getErrHelpWidth: () => 79,
    })
    .addHelpText('after', exitCodes)
    .showSuggestionAfterError();
  const session = (flags: SessionFlags): Session => new Session(host, flags, settings.version);
  const ends = (code: number): void => {
    outcome.code = code;
  };
  addRun(root, session, ends);
  addReplay(root, session, ends);
  addResults(root, session, ends);
  addReproduce(root, settings, session, ends);
  addValidate(root, session, ends);
  addTrace(root, session, ends);
  const parts = { common, collect, session, ends, exitCodes };
  addCrash(root, parts);
  addImage(root, parts);
  addDevices(root, session);
  addMappingSize(root, session);
  addReadahead(root, session);
  addSchema(root, session);
  addDemo(root, settings, session, ends);
  return root;
}

type NewSession = (flags: SessionFlags) => Session;
type Ends = (code: number) => void;

function addRun(root: Command, session: NewSession, ends: Ends): void {
  const command = root
    .command('run')
    .description('run an experiment from its spec: YAML, JSON, TypeScript or JavaScript')
    .argument('<spec>', 'spec file; see "flashstack schema"');
  addFlags(command, specFlags);
  experiment(command).action(async (file: string, flags: ExperimentFlags & SpecFlags & SessionFlags) =>
    ends(await runRun(file, flags, session(flags))),
  );
}

function addReplay(root: Command, session: NewSession, ends: Ends): void {
  const command = root
    .command('replay')
    .description('replay a block trace, plain, gzip or zstd, on a simulated drive')
    .argument('<trace>', 'trace file')
    .option('--device <preset>', 'drive to simulate, needed; see "flashstack devices"');
  addFlags(command, specFlags);
  reading(command).option('--module <file>', 'strategies or presets of your own; repeatable', collect);
  experiment(command).action(async (file: string, flags: ExperimentFlags & SpecFlags & SessionFlags) =>
    ends(await runReplay(file, flags, session(flags))),
  );
}

function addResults(root: Command, session: NewSession, ends: Ends): void {
  common(
    root
      .command('report')
      .description('say what results of --out hold, and why: as text, page, pictures')
      .argument('<result...>', 'result files'),
  )
    .option('--html <file>', 'also write a page that needs nothing else')
    .option('--png <dir>', 'also write every figure as PNG and SVG')
    .option('--verbose', 'add the table of all metrics of one result')
    .action(async (files: readonly string[], flags: ReportFlags & SessionFlags) =>
      ends(await runReport(files, flags, session(flags))),
    );
  common(
    root
      .command('compare')
      .description('results side by side; those that differ only in the seed are one column')
      .argument('<result...>', 'result files; the first is the baseline'),
  )
    .option('--json', 'print the metrics of each column as JSON')
    .action((files: readonly string[], flags: SessionFlags & { json?: boolean }) =>
      ends(runCompare(files, flags.json === true, session(flags))),
    );
  common(
    root
      .command('export')
      .description('write results as tables for spreadsheets and databases')
      .argument('<result...>', 'result files'),
  )
    .addOption(new Option('--format <name>', 'csv or parquet').choices(['csv', 'parquet']).default('csv'))
    .requiredOption('--out <dir>', 'folder of the tables')
    .action((files: readonly string[], flags: SessionFlags & { format: 'csv' | 'parquet'; out: string }) =>
      ends(runExport(files, flags.format, flags.out, session(flags))),
    );
}

function addReproduce(root: Command, settings: CliSettings, session: NewSession, ends: Ends): void {
  common(
    root
      .command('reproduce')
      .description('run published experiments, and compare with what was published')
      .argument('[id...]', 'experiments; see --list'),
  )
    .option('--list', 'list the experiments, with the state recorded for this version')
    .option('--all', 'run every one')
    .option('--seeds <n>', 'seeds of each; default: as many as the experiment needs')
    .option('--out <dir>', 'folder of the page, the figures and the values', 'out/reproduce')
    .option('--json', 'print the values as JSON')
    .addHelpText('after', exitCodes)
    .action(async (ids: readonly string[], flags: ReproduceFlags & SessionFlags) =>
      ends(await runReproduce(settings.demoTraces, ids, flags, session(flags))),
    );
}

function addValidate(root: Command, session: NewSession, ends: Ends): void {
  common(
    root
      .command('validate')
      .description('measure the published figures of presets, and compare')
      .argument('[preset...]', 'drives; all of them by default'),
  )
    .option('--module <file>', 'presets of your own; repeatable', collect)
    .option('--out <dir>', 'also write the values and a page into a folder')
    .option('--json', 'print the values as JSON')
    .addHelpText('after', exitCodes)
    .action(async (names: readonly string[], flags: ValidateFlags & SessionFlags) =>
      ends(await runValidate(names, flags, session(flags))),
    );
}

function addTrace(root: Command, session: NewSession, ends: Ends): void {
  const trace = root.command('trace').description('look at trace files, and convert them');
  common(
    reading(trace.command('info').description('what a trace is and what it holds').argument('<trace>', 'trace file')),
  )
    .option('--json', 'print JSON')
    .action(async (file: string, flags: SpecFlags & SessionFlags & { json?: boolean }) =>
      ends(await runTraceInfo(file, flags, session(flags))),
    );
  common(
    reading(
      trace
        .command('convert')
        .description('write the requests of a trace in another format')
        .argument('<from>', 'trace file')
        .argument('<to>', 'file to write; .gz and .zst pack it'),
    ),
  )
    .option('--to <format>', 'format to write; default: by the ending of the name')
    .option('--strict', 'fail at the first thing that the format cannot hold')
    .action(async (from: string, to: string, flags: SpecFlags & SessionFlags & { to?: string; strict?: boolean }) =>
      ends(await runTraceConvert(from, to, flags, session(flags))),
    );
}

function addDevices(root: Command, session: NewSession): void {
  const devices = root.command('devices').description('list the drives that can be simulated');
  common(devices)
    .option('--json', 'print JSON')
    .action((flags: SessionFlags & { json?: boolean }) => listDevices(flags.json === true, session(flags)));
  common(devices.command('show').description('show one drive: geometry, timing, sources').argument('<name>', 'preset'))
    .option('--json', 'print its configuration as JSON')
    .action((name: string, _flags: unknown, command: Command) => {
      // The parent takes options of the same name first.
      const flags = command.optsWithGlobals<SessionFlags & { json?: boolean }>();
      showDevice(name, flags.json === true, session(flags));
    });
}

function addMappingSize(root: Command, session: NewSession): void {
  common(root.command('mapping-size').description('what the mapping tables of every scheme take in controller RAM'))
    .option('--capacity <size>', 'capacity, such as 1TiB; repeatable', collect)
    .option('--slot <size>', 'mapping unit of page-granular tables; default 4KiB')
    .option('--block <size>', 'erase block; default 512KiB')
    .option('--superblock <size>', 'superblock of disaggregate mapping; default 256MiB')
    .option('--metadata <size>', 'metadata area of disaggregate mapping; default: what F2FS keeps in place')
    .option('--zone <size>', 'zone of a zoned namespace; default 256MiB')
    .option('--log-blocks <n>', 'log blocks of hybrid schemes; default 3 % of the blocks')
    .option('--cached-entries <n>', 'entries that DFTL keeps in RAM; default 1 % of them')
    .option('--json', 'print JSON')
    .action((flags: MappingSizeFlags & SessionFlags) => runMappingSize(flags, session(flags)));
}

function addReadahead(root: Command, session: NewSession): void {
  const names = readaheadKinds.map(({ name }) => name).join(', ');
  common(root.command('readahead-sim').description('what the read-ahead of a page cache fetches, read by read'))
    .option('--policy <name>', names, 'linux-6')
    .option('--module <file>', 'policies of your own; repeatable', collect)
    .option('--set <key=value>', 'parameter of the policy; repeatable', collect)
    .option('--file-size <size>', 'size of the file', '5MiB')
    .requiredOption(
      '--reads <list>',
      'OFFSET:LENGTH, OFFSET:LENGTHxCOUNT[+STRIDE], random:LENGTHxCOUNT, with commas; repeatable',
      collect,
    )
    .option('--read-ahead <size>', 'window of the device, as read_ahead_kb', '128KiB')
    .option('--request-size <size>', 'largest request of the device, as max_sectors_kb', '1280KiB')
    .option('--advice <name>', 'posix_fadvise: normal, sequential, random', 'normal')
    .option('--memory <size>', 'memory of the page cache; default: enough')
    .option('--seed <n>', 'seed of random reads', '1')
    .option('--json', 'print JSON')
    .action(async (flags: ReadaheadFlags & SessionFlags) => await runReadahead(flags, session(flags)));
}

function addSchema(root: Command, session: NewSession): void {
  common(
    root
      .command('schema')
      .description('print the JSON Schema of specs, or the options of one section in words')
      .argument('[section]', 'such as ftl, nand.timing, workload'),
  )
    .option('--json', 'the JSON Schema of the section')
    .action((section: string | undefined, flags: SessionFlags & { json?: boolean }) =>
      runSchema(section, flags.json === true, session(flags)),
    );
}

function addDemo(root: Command, settings: CliSettings, session: NewSession, ends: Ends): void {
  common(root.command('demo').description('replay two recorded traces on two drives and compare them'))
    .option('--seed <n>', 'seed of everything random', '1')
    .option('--out <dir>', 'folder of the results and of their report', 'out/demo')
    .action(async (flags: SessionFlags & { seed: string; out: string }) =>
      ends(await runDemo(settings.demoTraces, flags, session(flags))),
    );
}

/** Flags that say how a trace is read. */
function reading(command: Command): Command {
  return addFlags(command, traceFlags).option('--select <volume=name>', 'only these volumes; repeatable', collect);
}

/** Flags of what becomes of a run. */
function experiment(command: Command): Command {
  return common(command)
    .option('--set <path=value>', 'set any key of the spec, such as ftl.victim=fifo; repeatable', collect)
    .option('--seeds <n>', 'run with so many seeds, from --seed on, and show the spread', '1')
    .option('--out <dir>', 'also write the result and its report into a folder')
    .option('--html <file>', 'write the report there')
    .option('--trace-events <file>', 'write what channels and dies did, for ui.perfetto.dev')
    .option('--block-trace <file>', 'write requests as a block trace: FILE.blktrace.0 binary, FILE.blkparse.txt text')
    .option('--save-drive <file>', 'keep the drive as it is after preconditioning')
    .option('--load-drive <file>', 'take that drive instead of preconditioning one')
    .option('--json', 'print the result as JSON, and nothing else, on stdout')
    .option('--verbose', 'add the table of all metrics')
    .addHelpText('after', exitCodes);
}

function common(command: Command): Command {
  return command
    .addOption(new Option('--color <when>', 'colours: auto, always, never').default('auto').argParser(parseColor))
    .option('--ascii', 'no characters beyond ASCII')
    .option('--quiet', 'no progress and no notes on stderr')
    .option('--debug', 'show the stack trace of an error');
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function parseColor(text: string): ColorMode {
  if (text === 'auto' || text === 'always' || text === 'never') return text;
  throw new InvalidArgumentError('Expected auto, always or never.');
}

function colorIn(args: readonly string[]): ColorMode {
  const at = args.findIndex((arg) => arg === '--color' || arg.startsWith('--color='));
  const text = at < 0 ? 'auto' : (args[at].split('=')[1] ?? args[at + 1]);
  return text === 'always' || text === 'never' ? text : 'auto';
}
