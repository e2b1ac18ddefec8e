import {
  describeOption,
  deviceOptions,
  driveOptions,
  noExtensions,
  type Option,
  parseOption,
  runOptions,
  traceOptions,
} from '@flashstack/experiment';
import { readYaml, type SpecChanges } from '@flashstack/experiment/node';
import { type Command, Option as CommandOption } from 'commander';
import { UsageError } from './report-error.js';

/** A flag of the command line that sets one key of a spec. */
export interface OptionFlag {
  /** As `--loop <mode>`. */
  readonly flags: string;
  /** The key it sets, such as `device.capacity`. */
  readonly path: string;
  /** A flag without a value sets this. */
  readonly value?: unknown;
}

/** The flags of `replay` and `run`, by the keys whose description, range and default they take. */
export const specFlags: readonly OptionFlag[] = [
  { flags: '--loop <mode>', path: 'loop' },
  { flags: '--time-scale <factor>', path: 'timeScale' },
  { flags: '--max-in-flight <n>', path: 'maxInFlight' },
  { flags: '--address <policy>', path: 'address' },
  { flags: '--repeat <n>', path: 'repeat' },
  { flags: '--precondition <state>', path: 'precondition' },
  { flags: '--warmup <amount>', path: 'warmup' },
  { flags: '--capacity <size>', path: 'device.capacity' },
  { flags: '--over-provisioning <share>', path: 'device.overProvisioning' },
  { flags: '--scheduler <kind>', path: 'scheduler.kind' },
  { flags: '--seed <n>', path: 'seed' },
  { flags: '--verify', path: 'verify', value: true },
];

/** The flags that say how a trace is read. */
export const traceFlags: readonly OptionFlag[] = [
  { flags: '--format <name>', path: 'workload.format' },
  { flags: '--skip-bad-lines', path: 'workload.badLines', value: 'skip' },
  { flags: '--limit <n>', path: 'workload.limit' },
  { flags: '--action <letter>', path: 'workload.action' },
  { flags: '--wait-unit <unit>', path: 'workload.waitUnit' },
  { flags: '--pattern <regexp>', path: 'workload.pattern' },
  { flags: '--ignore <regexp>', path: 'workload.ignore' },
  { flags: '--time-unit <unit>', path: 'workload.timeUnit' },
  { flags: '--offset-unit <size>', path: 'workload.offsetUnitBytes' },
  { flags: '--length-unit <size>', path: 'workload.lengthUnitBytes' },
  { flags: '--read-words <list>', path: 'workload.readWords' },
  { flags: '--write-words <list>', path: 'workload.writeWords' },
  { flags: '--flush-words <list>', path: 'workload.flushWords' },
  { flags: '--discard-words <list>', path: 'workload.discardWords' },
];

/** The option that a key of a spec has, as far as no module of the user's defines it. */
function knownOption(path: string): Option | undefined {
  const [section, ...rest] = path.split('.');
  const key = rest.join('.');
  return (
    (section === 'device' ? deviceOptions.get(key) : undefined) ??
    (section === 'workload' ? traceOptions.get(key) : undefined) ??
    runOptions.get(path) ??
    driveOptions(noExtensions).get(path)
  );
}

function optionOf(path: string): Option {
  const option = knownOption(path);
  if (option === undefined) throw new Error(`no option is described at ${path}`);
  return option;
}

/** Adds flags to a command; their help is that of the options. */
export function addFlags(command: Command, flags: readonly OptionFlag[]): Command {
  for (const { flags: text, path } of flags) command.addOption(new CommandOption(text, helpOf(optionOf(path))));
  return command;
}

function helpOf(option: Option): string {
  const choices = option.type === 'enum' ? `${(option.values ?? []).join(', ')}. ` : '';
  // The placeholder of a flag, such as <mode>, does not tell how these are written.
  const takes = option.type === 'loop' || option.type === 'warmup' ? ` Takes ${describeOption(option)}.` : '';
  return `${choices}${option.help}${takes} Default: ${option.default}`;
}

/** A flag that was given: as it was written, and what that means. */
interface GivenFlag {
  readonly path: string;
  readonly written: unknown;
  readonly value: unknown;
}

/** @throws InputError naming the flag. */
function givenFlags(flags: readonly OptionFlag[], given: Readonly<Record<string, unknown>>): GivenFlag[] {
  return flags.flatMap(({ flags: syntax, path, value: fixed }) => {
    const name = /^--[a-z-]+/.exec(syntax)?.[0] ?? syntax;
    const text = given[camel(name)];
    if (text === undefined) return [];
    const option = optionOf(path);
    const written = fixed ?? (option.list === true ? String(text).split(',') : text);
    return [{ path, written, value: parseOption(name, option, written) }];
  });
}

/** What the flags that were given set, by path, as written: the spec reads the text again. @throws InputError naming the flag. */
export function changesOf(flags: readonly OptionFlag[], given: Readonly<Record<string, unknown>>): SpecChanges {
  return Object.fromEntries(givenFlags(flags, given).map(({ path, written }) => [path, written]));
}

/** What the flags that were given mean, by key without its section, where no spec reads them. @throws InputError naming the flag. */
export function valuesOf(
  flags: readonly OptionFlag[],
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    givenFlags(flags, given).map(({ path, value }) => [path.slice(path.indexOf('.') + 1), value]),
  );
}

function camel(flag: string): string {
  return flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * `path=value` pairs; a value is a map or list in YAML, or JSON (a number, true, null), or else the text itself.
 * @throws UsageError for no pair, SpecError for a map or list that is no YAML.
 */
export function parseSettings(flag: string, texts: readonly string[]): SpecChanges {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new UsageError(`${flag} is "${text}", expected PATH=VALUE.`, ['Such as ftl.victim=fifo.']);
      const [path, value] = [text.slice(0, at), text.slice(at + 1)];
      return [path, settingOf(`${flag} ${path}`, value, knownOption(path))];
    }),
  );
}

function settingOf(name: string, text: string, option: Option | undefined): unknown {
  // A regular expression may begin with a bracket.
  const plain = option?.type === 'string' && option.list !== true;
  if (!plain && /^\s*[{[]/.test(text)) return readYaml(text, name).data;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** `volume=NAME` pairs: the volumes wanted. */
export function parseSelection(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const match = /^volume=(.+)$/.exec(text);
    if (match === null) throw new UsageError(`--select is "${text}", expected volume=NAME.`, ['Several: volume=a,b.']);
    return match[1].split(',');
  });
}

/** A whole number from `least` to `most`, for flags that are no keys of a spec. */
export function parseWhole(flag: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${flag} is "${text}", expected a whole number from ${least} to ${most}.`);
}
