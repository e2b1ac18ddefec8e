import { type ParameterTable, type StrategyKind, unknownName } from '@flashstack/sim';
import { linkNames } from '@flashstack/ssd';
import { type Extensions, noExtensions } from '../extensions.js';
import { driveOptions, nullableSections } from './drive-options.js';
import { describeOption, type Option, type OptionTable } from './option.js';
import { parameterOption } from './parameter-option.js';
import { deviceOptions, runOptions, traceOptions } from './run-options.js';
import { callTraceOptions, systemOptions } from './system-options.js';
import type { UnitKind } from './units.js';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const NUMBER = String.raw`-?\d+(_\d+)*(\.\d+)?([eE][+-]?\d+)?`;
const patterns: Readonly<Record<UnitKind, string>> = {
  size: String.raw`^${NUMBER}\s*([kmgtpKMGTP](i[bB])?|[bB])?$`,
  time: String.raw`^${NUMBER}\s*(ns|us|µs|μs|ms|s|min|h)?$`,
  rate: String.raw`^${NUMBER}\s*([kmgtKMGT]?([bB]/s|[bB]ps|[tT]/s)?)$`,
  share: String.raw`^${NUMBER}\s*%?$`,
  count: String.raw`^${NUMBER}\s*[kmgtKMGT]?$`,
};

const WHOLE_NUMBERS: JsonSchema = { type: 'array', items: { type: 'integer', minimum: 0 } };

/**
 * The JSON Schema of specs, or of one section (`ftl`, `nand.timing`, `device`, `workload`). It describes each key, its
 * unit and range; what only holds between keys is checked when a spec is read.
 * @throws InputError `ERR_UNKNOWN_NAME` for an unknown section, with the nearest one.
 */
export function specSchema(section = '', extensions: Extensions = noExtensions): JsonSchema {
  const whole = wholeSchema(extensions);
  if (section === '') return whole;
  let schema = whole;
  const steps = section.split('.');
  for (const [depth, step] of steps.entries()) {
    const properties = propertiesOf(schema);
    if (!Object.hasOwn(properties, step)) {
      const prefix = steps.slice(0, depth).join('.');
      const known = Object.keys(properties).map((key) => (prefix === '' ? key : `${prefix}.${key}`));
      throw unknownName('section of a spec', steps.slice(0, depth + 1).join('.'), known);
    }
    schema = properties[step];
  }
  return { $schema: whole.$schema, ...schema };
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const { properties, anyOf = [] } = schema as { properties?: Record<string, JsonSchema>; anyOf?: JsonSchema[] };
  return properties ?? Object.assign({}, ...anyOf.map(propertiesOf));
}

function wholeSchema(extensions: Extensions): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    device: deviceSchema(extensions),
    workload: workloadSchema(extensions),
  };
  properties.system = systemSchema(extensions);
  for (const [key, option] of runOptions) properties[key] = optionSchema(option);
  const drive = tree(driveOptions(extensions), '');
  Object.assign(properties, drive.properties);
  const scheduler = properties.scheduler;
  properties.scheduler = {
    description: 'How flash operations are placed in time; a name is short for kind.',
    anyOf: [propertiesOf(scheduler).kind, scheduler],
  };
  properties.link = {
    description: 'Cable or lanes to the host; a name is short for standard and lanes.',
    anyOf: [{ enum: linkNames }, properties.link],
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A flashstack experiment',
    type: 'object',
    properties,
    required: ['device', 'workload'],
    additionalProperties: false,
  };
}

function deviceSchema({ presets }: Extensions): JsonSchema {
  const names = { enum: presets.map(({ name }) => name) };
  const properties = Object.fromEntries([...deviceOptions].map(([key, option]) => [key, optionSchema(option)]));
  return {
    description: 'The drive: the name of a preset, or a map that scales it.',
    anyOf: [names, closedMap({ ...properties, preset: { ...properties.preset, ...names } }, ['preset'])],
  };
}

function systemSchema(extensions: Extensions): JsonSchema {
  const { properties, ...rest } = tree(systemOptions(extensions), '');
  return {
    description: 'File system, page cache and block layer above the drive; a name is short for its file system.',
    anyOf: [
      { enum: extensions.fileSystems.map(({ name }) => name) },
      { ...rest, properties, required: ['fileSystem'] },
    ],
  };
}

function workloadSchema({ workloads, fileWorkloads }: Extensions): JsonSchema {
  const mapOf = (table: OptionTable, required: readonly string[]): JsonSchema =>
    closedMap(Object.fromEntries([...table].map(([key, option]) => [key, optionSchema(option)])), required);
  return {
    description:
      'What is asked of the drive, or what programs do: a trace file, the name of a kind, or a map with its parameters.',
    anyOf: [
      { type: 'string' },
      { ...mapOf(traceOptions, ['trace']), description: 'A recorded trace of requests.' },
      {
        ...mapOf(callTraceOptions, ['trace', 'root']),
        description: 'With a system: system calls that strace recorded.',
      },
      ...workloads.map((kind) => kindSchema(kind, {})),
      ...fileWorkloads.map((kind) => kindSchema(kind, kind.name === 'file-jobs' ? jobsSchema(kind.parameters) : {})),
    ],
  };
}

function jobsSchema(parameters: ParameterTable): Readonly<Record<string, JsonSchema>> {
  const items = closedMap(parameterSchemas(parameters), []);
  return { jobs: { description: 'Several jobs.', type: 'array', minItems: 1, items } };
}

function kindSchema(
  { name, summary, parameters }: Pick<StrategyKind<unknown>, 'name' | 'summary' | 'parameters'>,
  more: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const properties = { kind: { const: name }, ...parameterSchemas(parameters), ...more };
  return { ...closedMap(properties, ['kind']), description: summary };
}

function parameterSchemas(parameters: ParameterTable): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(parameters.map((parameter) => [parameter.name, optionSchema(parameterOption(parameter))]));
}

function closedMap(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The options below a prefix as nested maps. */
function tree(table: OptionTable, prefix: string): { readonly properties: Record<string, JsonSchema> } & JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const [path, option] of table) {
    if (!path.startsWith(prefix)) continue;
    const [key, ...rest] = path.slice(prefix.length).split('.');
    if (rest.length === 0) properties[key] = optionSchema(option);
    else if (!Object.hasOwn(properties, key)) properties[key] = tree(table, `${prefix}${key}.`);
  }
  const type = nullableSections.includes(prefix.slice(0, -1)) ? ['object', 'null'] : 'object';
  return { type, properties, additionalProperties: false };
}

/** The JSON Schema of one option. */
export function optionSchema(option: Option): JsonSchema {
  const one = oneSchema(option);
  const value = option.list === true ? { type: 'array', items: one } : one;
  const described = { description: `${option.help} Default: ${option.default}.`, ...value };
  if (option.nullable !== true) return described;
  const { description, ...plain } = described as { description: string } & JsonSchema;
  return { description, anyOf: [plain, { type: 'null' }] };
}

function oneSchema(option: Option): JsonSchema {
  switch (option.type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'enum':
      return { enum: option.values };
    case 'string':
      return option.list === true
        ? { type: ['string', 'number'] }
        : { type: 'string', minLength: option.mayBeEmpty === true ? 0 : 1 };
    case 'pairing':
      return {
        anyOf: [
          { enum: ['simple', 'shifted', 'tlc'] },
          closedMap({ pageType: WHOLE_NUMBERS, wordLine: WHOLE_NUMBERS }, ['pageType']),
        ],
      };
    case 'loop':
      return { type: 'string', pattern: String.raw`^(open|think|closed(:\d+[kmgtKMGT]?)?)$` };
    case 'warmup':
      return { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }] };
    case 'strategy':
      return strategySchema(option);
    case 'amount': {
      const { unit = 'count', whole, min, max } = option;
      // Above the whole a share is written with its sign.
      const most = unit === 'share' && max !== undefined ? Math.min(max, 1) : max;
      const range = {
        ...(min === undefined ? {} : { minimum: min }),
        ...(most === undefined ? {} : { maximum: most }),
      };
      return {
        anyOf: [
          { type: whole === true ? 'integer' : 'number', ...range },
          {
            type: 'string',
            pattern: patterns[unit],
            title: describeOption({ ...option, list: false, nullable: false }),
          },
        ],
      };
    }
  }
}

function strategySchema({ kinds = [] }: Option): JsonSchema {
  const maps = kinds.map(({ name, summary, parameters }) => ({
    ...closedMap(
      {
        name: { const: name },
        parameters: {
          type: 'object',
          properties: parameterSchemas(parameters),
          additionalProperties: false,
        },
      },
      ['name'],
    ),
    description: summary,
  }));
  return { anyOf: [{ enum: kinds.map(({ name }) => name) }, ...maps] };
}
