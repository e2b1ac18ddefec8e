import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { runDemo } from './demo-command.js';
import { listDevices, showDevice } from './devices-command.js';
import { ExitCode } from './exit-code.js';
import { InterruptedError } from './interrupt.js';
import { type ReplayFlags, runReplay } from './replay-command.js';
import { describeError, exitCodeOf } from './report-error.js';
import { Session, type SessionFlags } from './session.js';
import { type ColorMode, type Host, type Style, styleFor } from './terminal.js';

const exitCodes = `
Exit codes:
  0    done
  1    the answer is no: the drive failed requests
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
    if (args.includes('--debug') && error instanceof Error) host.stderr.write(`${error.stack}\n`);
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
    .description('Replays block traces on simulated flash storage and shows where time and write\namplification go.')
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
  addReplay(root, host, settings, outcome);
  addDevices(root, host, settings);
  addDemo(root, host, settings, outcome);
  return root;
}

function addReplay(root: Command, host: Host, settings: CliSettings, outcome: { code: number }): void {
  const command = root
    .command('replay')
    .description('replay a block trace, plain or gzip, on a simulated drive')
    .argument('<trace>', 'trace file')
    .option('--device <preset>', 'drive to simulate, needed; see "flashstack devices"')
    .option('--format <name>', 'msr, mqsim, or auto: recognised if that is certain', 'auto')
    .option('--skip-bad-lines', 'count and skip lines that cannot be read')
    .option('--loop <mode>', 'closed:N keeps N requests in flight; open follows the recorded times', 'closed:32')
    .option('--time-scale <factor>', 'open loop: multiplies recorded times; 0.5 is twice as fast', '1')
    .option('--address <policy>', 'addresses beyond the drive: wrap, compact, scale, fail', 'fail')
    .option('--repeat <n>', 'passes over the trace', '1')
    .option('--precondition <state>', 'state of the drive at the start: none, fill, steady', 'none')
    .option('--capacity <size>', 'scale the drive, such as 4GiB; its parallelism stays')
    .option('--over-provisioning <share>', 'spare flash as a share of the capacity, such as 7%')
    .option('--set <path=value>', 'change one value of the drive, such as ftl.victim=fifo; repeatable', collect)
    .option('--seed <n>', 'seed of everything random', '1')
    .option('--scheduler <kind>', 'timeline (fast) or event (priorities, suspension); default: as the preset says')
    .option('--out <dir>', 'also write the result as DIR/TRACE.json');
  common(command)
    .option('--json', 'print the result as JSON, and nothing else, on stdout')
    .option('--verbose', 'add the table of all metrics')
    .addHelpText('after', exitCodes)
    .action(async (trace: string, flags: ReplayFlags & SessionFlags) => {
      outcome.code = await runReplay(trace, flags, new Session(host, flags, settings.version));
    });
}

function addDevices(root: Command, host: Host, settings: CliSettings): void {
  const devices = root.command('devices').description('list the drives that can be simulated');
  common(devices)
    .option('--json', 'print JSON')
    .action((flags: SessionFlags & { json?: boolean }) =>
      listDevices(flags.json === true, new Session(host, flags, settings.version)),
    );
  common(devices.command('show').description('show one drive: geometry, timing, sources').argument('<name>', 'preset'))
    .option('--json', 'print its configuration as JSON')
    .action((name: string, _flags: unknown, command: Command) => {
      // The parent takes options of the same name first.
      const flags = command.optsWithGlobals<SessionFlags & { json?: boolean }>();
      showDevice(name, flags.json === true, new Session(host, flags, settings.version));
    });
}

function addDemo(root: Command, host: Host, settings: CliSettings, outcome: { code: number }): void {
  common(root.command('demo').description('replay two recorded traces on two drives and compare them'))
    .option('--seed <n>', 'seed of everything random', '1')
    .action(async (flags: SessionFlags & { seed: string }) => {
      outcome.code = await runDemo(settings.demoTraces, flags, new Session(host, flags, settings.version));
    });
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
