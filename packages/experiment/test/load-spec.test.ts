import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { hashSpec, runExperiment, SpecError, sha256 } from '../src/index.js';
import { type LoadedSpec, loadSpec } from '../src/node/index.js';

const own = fileURLToPath(new URL('modules/own.ts', import.meta.url));

function file(text: string, name = 'spec.yaml', files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-`);
  for (const [path, contents] of Object.entries({ ...files, [name]: text })) {
    mkdirSync(dirname(`${folder}/${path}`), { recursive: true });
    writeFileSync(`${folder}/${path}`, contents);
  }
  return `${folder}/${name}`;
}

/** The error that a spec causes, with the folder of its file taken out of the message. */
async function refusal(text: string, name?: string): Promise<SpecError> {
  const path = file(text, name);
  try {
    await loadSpec(path);
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    Object.defineProperty(error, 'message', { value: error.message.replaceAll(`${dirname(path)}/`, '') });
    return error;
  }
  throw new Error('the spec was accepted');
}

const smallest = 'device: mqsim-b8\nworkload: random\n';
const load = async (text: string): Promise<LoadedSpec> => loadSpec(file(text));

describe('a spec file', () => {
  test('needs two lines', async () => {
    const { name, spec, trace } = await load(smallest);
    expect(name).toBe('spec');
    expect(trace).toBeNull();
    expect(hashSpec(spec)).toEqual(hashSpec({ device: 'mqsim-b8', workload: { kind: 'random' } }));
  });

  test('has units, short forms and sections of the drive', async () => {
    const { spec } = await load(`
device: { preset: mqsim-b8, capacity: 256MiB, overProvisioning: 28% }
workload: { kind: random, requests: 50k, requestBytes: 4KiB, gapNs: 2us }
seed: 7
precondition: steady
loop: open
timeScale: 0.5
address: wrap
repeat: 2
warmup: 10%
scheduler: event
ftl:
  victim: { name: d-choices, parameters: { d: 4 } }
  wearLevelling: { kind: threshold, delta: 20 }
nand:
  timing: { eraseNs: 3.5ms, channelBytesPerSec: 400MB/s }
buffer: { slots: 1k }
`);
    const { spec: resolved } = hashSpec(spec);
    expect(resolved.device.capacityBytes).toBe(256 * 2 ** 20);
    expect(resolved.workload).toMatchObject({ parameters: { requests: 50_000, requestBytes: 4096, gapNs: 2000 } });
    expect(resolved).toMatchObject({ seed: 7, precondition: 'steady', address: 'wrap', repeat: 2 });
    expect(resolved).toMatchObject({ loop: { kind: 'open', timeScale: 0.5, maxInFlight: 65_536 } });
    expect(resolved.warmup).toEqual({ share: 0.1 });
    expect(resolved.device.scheduler.kind).toBe('event');
    expect(resolved.device.ftl.victim).toEqual({ name: 'd-choices', parameters: { d: 4 } });
    expect(resolved.device.ftl.wearLevelling).toEqual({ kind: 'threshold', delta: 20 });
    expect(resolved.device.nand.timing).toMatchObject({ eraseNs: 3_500_000, channelBytesPerSec: 4e8 });
    expect(resolved.device.buffer).toMatchObject({ slots: 1000, drain: 'eager', earlyCompletion: true });
  });

  test('may be JSON, JavaScript or TypeScript: the same hash', async () => {
    const data = '{ "device": "mqsim-b8", "workload": { "kind": "zipf", "theta": 0.9 }, "seed": 3 }';
    const files = [
      file(`device: mqsim-b8\nworkload: { kind: zipf, theta: 0.9 }\nseed: 3\n`),
      file(data, 'spec.json'),
      file(`export default ${data};`, 'spec.mjs'),
      file(`interface S { device: string }\nexport const spec: S & Record<string, unknown> = ${data};`, 'spec.ts'),
    ];
    const hashes = [];
    for (const path of files) hashes.push(hashSpec((await loadSpec(path)).spec).specHash);
    expect(new Set(hashes).size).toBe(1);
  });

  test('is as the README shows it', async () => {
    const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');
    const yaml = /^```yaml\n(.*?)^```$/ms.exec(readme)?.[1] ?? '';
    const policy = readFileSync(own, 'utf8').replace("'oldest-but'", "'my-policy'");
    const { spec, extensions } = await loadSpec(file(yaml, 'spec.yaml', { 'my-policy.ts': policy }));
    const { spec: resolved } = hashSpec(spec, null, extensions);
    expect(resolved.device.ftl.victim).toEqual({ name: 'my-policy', parameters: { most: 0.8 } });
    expect(resolved.workload).toMatchObject({
      kind: 'zipf',
      parameters: { requests: 1e6, theta: 1.1, readShare: 0.3 },
    });
    expect(resolved).toMatchObject({ warmup: { share: 0.1 }, seed: 7, precondition: 'steady' });
  });

  test('names a trace relative to itself', async () => {
    const path = file('device: mqsim-b8\nworkload: traces/a.csv.gz\n');
    const { trace, spec } = await loadSpec(path);
    expect(trace).toEqual({ path: `${dirname(path)}/traces/a.csv.gz`, options: {} });
    expect(spec.workload).toEqual({ kind: 'given', name: 'traces/a.csv.gz', reading: {} });
    const long = await load('device: mqsim-b8\nworkload: { trace: a.csv, format: msr, badLines: skip }\n');
    expect(long.trace?.options).toEqual({ format: 'msr', badLines: 'skip' });
  });

  test('can be changed by path before it is read', async () => {
    const path = file(smallest);
    const { spec } = await loadSpec(path, {
      seed: 5,
      'device.capacity': '1GiB',
      'workload.requests': '2k',
      'ftl.victim': 'd-choices',
      'ftl.victim.parameters.d': 3,
    });
    expect(spec).toMatchObject({
      seed: 5,
      device: { preset: 'mqsim-b8', capacityBytes: 2 ** 30, overrides: { 'ftl.victim': { name: 'd-choices' } } },
      workload: { kind: 'random', parameters: { requests: 2000 } },
    });
  });

  test('a strategy in its short form can be changed by its name', async () => {
    const path = file(`${smallest}ftl: { mapping: dftl, victim: fifo }\n`);
    const changes = { 'ftl.mapping.name': 'bast', 'ftl.victim.name': 'random' };
    const short = await loadSpec(path, { 'ftl.mapping': 'bast', 'ftl.victim': 'random' });
    const { spec } = await loadSpec(path, changes);
    const overridesOf = ({ device }: typeof spec): unknown => (typeof device === 'string' ? null : device.overrides);
    expect(overridesOf(spec)).toEqual({
      'ftl.mapping': expect.objectContaining({ name: 'bast' }),
      'ftl.victim': expect.objectContaining({ name: 'random' }),
    });
    expect(overridesOf(short.spec)).toEqual({ 'ftl.mapping': 'bast', 'ftl.victim': 'random' });
    // What is wrong with the change does not stand in the file.
    await expect(loadSpec(path, { 'ftl.mapping.name': 'pag' })).rejects.toThrow(/^Unknown ftl.mapping "pag"/i);
  });

  test('a system in its short form can be changed, and so can the read-ahead and the file system in it', async () => {
    const path = file('device: mqsim-b8\nsystem: memfs\nworkload: file-jobs\n');
    const memory = await loadSpec(path, { 'system.memory': '64MiB', 'system.pageCache.dirtyRatio': 30 });
    expect(memory.spec.system).toEqual({ fileSystem: 'memfs', memory: 2 ** 26, pageCache: { dirtyRatio: 30 } });
    const named = await loadSpec(path, { 'system.fileSystem.name': 'memfs', 'system.readahead': 'none' });
    expect(named.spec.system).toMatchObject({ fileSystem: { name: 'memfs' }, readahead: 'none' });
  });

  test('an unknown key below a device in its short form is refused as such', async () => {
    const path = file(smallest);
    await expect(loadSpec(path, { 'device.capacty': '1GiB' })).rejects.toThrow('unknown key device.capacty.');
  });
});

describe('what is wrong, and where', () => {
  test('an unknown key: file, line, column, what was meant', async () => {
    const error = await refusal('device: mqsim-b8\nworkload: random\nftl:\n  victm: greedy\n');
    expect(error.message).toBe('spec.yaml:4:3: unknown key ftl.victm.');
    expect(error.meant).toBe('victim');
    expect(error.position).toMatchObject({
      line: 4,
      column: 3,
      from: 3,
      to: 7,
      text: '  victm: greedy',
      before: 'ftl:',
    });
    expect(error.hints).toEqual(['See: flashstack schema ftl']);
    expect((await refusal(`${smallest}foo: 1\n`)).hints[0]).toMatch(/^Known: device, workload, /);
  });

  test.each([
    [
      'a wrong type',
      `${smallest}seed: many\n`,
      /^spec.yaml:3:7: seed is "many", expected a whole number of at least 0/,
    ],
    ['a list for a number', `${smallest}repeat: [1]\n`, /:3:9: repeat is \[1\], expected a whole number/],
    [
      'a fraction for a count',
      `${smallest}queue: { depth: 1.5 }\n`,
      /:3:17: queue.depth is 1.5, expected a whole number/,
    ],
    [
      'a size for a time',
      `${smallest}gatherNs: 4KiB\n`,
      /:3:11: gatherNs is "4KiB", expected a time from 0 .* Write it as 75us/,
    ],
    [
      'an unknown unit',
      `${smallest}nand:\n  timing:\n    eraseNs: 3 parsecs\n`,
      /:5:14: nand.timing.eraseNs is "3 parsecs"/,
    ],
    ['out of range', `${smallest}nand: { geometry: { planes: 9 } }\n`, /expected a whole number from 1 to 8/],
    [
      'above a share',
      `device: { preset: mqsim-b8, overProvisioning: 10100% }\nworkload: random\n`,
      /:1:47: device.overProvisioning is "10100%", expected a share from 0 to 10000%/,
    ],
    ['an unknown choice', `${smallest}precondition: stedy\n`, /:3:15: precondition is "stedy".* Did you mean steady\?/],
    ['an unknown policy', `${smallest}ftl: { victim: gredy }\n`, /:3:16: .*Did you mean "greedy"\?/],
    [
      'a parameter of a policy',
      `${smallest}ftl: { victim: { name: d-choices, parameters: { e: 1 } } }\n`,
      /:3:16: Unknown parameter of d-choices "e"/,
    ],
    ['a section that is a value', `${smallest}nand: 3\n`, /:3:7: nand is 3, expected a map with geometry, timing/],
    ['a value that is a section', `${smallest}seed: { a: 1 }\n`, /:3:7: seed is \{"a":1\}/],
    ['an unknown drive', 'device: emmc-5.1\nworkload: random\n', /:1:9: unknown device preset "emmc-5.1"/],
    ['no drive', 'workload: random\n', /:1:1: device is missing/],
    ['no workload', 'device: mqsim-b8\n', /:1:1: workload is missing/],
    ['an unknown workload', 'device: mqsim-b8\nworkload: randm\n', /:2:11: unknown workload "randm"/],
    [
      'a parameter of a workload',
      'device: mqsim-b8\nworkload: { kind: random, request: 1 }\n',
      /:2:27: unknown key workload.request/,
    ],
    ['a time scale of a closed loop', `${smallest}timeScale: 2\n`, /:3:1: timeScale has no meaning with a closed loop/],
    ['a key twice', `${smallest}seed: 1\nseed: 2\n`, /:4:1: key seed stands twice in the same map/],
    ['no YAML', 'device: [mqsim-b8\n', /^spec.yaml:\d:\d+: this is no YAML: /],
    ['no map', '- 1\n', /a spec is a map with device and workload/],
    ['nothing', '# only a comment\n', /^spec.yaml: the spec is empty/],
  ])('%s', async (_, text, message) => {
    expect((await refusal(text)).message).toMatch(message);
  });

  test('aliases that go round, multiply or lead nowhere', async () => {
    expect((await refusal('&a { device: mqsim-b8, workload: *a }')).message).toContain('workload is a map that cannot');
    expect((await refusal('device: *a')).message).toContain('spec.yaml');
    const levels = 'bcdefgh'.replace(/./g, (name) => {
      const above = String.fromCharCode(name.charCodeAt(0) - 1);
      return `${name}: &${name} [${Array(9).fill(`*${above}`).join(', ')}]\n`;
    });
    const many = await refusal(`a: &a [x]\n${levels}`);
    expect(many.message).toContain('its aliases cannot be followed');
    const round = 'const a: Record<string, unknown> = { device: "mqsim-b8" };\na.seed = a;\na.workload = "random";\n';
    const cyclic = await refusal(`${round}export default a;`, 'spec.ts');
    expect(cyclic.message).toBe(
      'spec.ts: seed is a map that cannot be written down, expected a whole number of at least 0.',
    );
    const large = await refusal('export default { device: "mqsim-b8", workload: "random", seed: 10n };', 'spec.ts');
    expect(large.message).toContain('seed is 10, expected');
    expect((await refusal('device: mqsim-b8\nworkload: random\nseed: .inf')).message).toContain('seed is Infinity');
  });

  test('keys that are no texts are named where they stand', async () => {
    const { message, position } = await refusal('device: mqsim-b8\nworkload: random\n5: 6');
    expect([message, position?.text]).toEqual(['spec.yaml:3:1: unknown key 5.', '5: 6']);
  });

  test('a missing file, a folder, a module that exports no spec', async () => {
    await expect(loadSpec('/nowhere.yaml')).rejects.toThrow('/nowhere.yaml: there is no such file.');
    await expect(loadSpec('/nowhere.ts')).rejects.toThrow('/nowhere.ts: there is no such file.');
    await expect(loadSpec(tmpdir())).rejects.toThrow('this is a folder, not a spec');
    await expect(loadSpec(file('export const x = 1;', 'a.ts'))).rejects.toThrow('expected a default export');
    expect((await refusal('export default { device: 1, workload: "random" };', 'b.ts')).message).toMatch(
      /^b.ts: device is 1, expected/,
    );
  });

  test('values that only matter together', async () => {
    const { spec } = await load(`${smallest}ftl: { wearLevelling: { kind: bet, delta: 3 } }\n`);
    expect(() => hashSpec(spec)).toThrow('ftl.wearLevelling.delta has no meaning with ftl.wearLevelling.kind bet');
  });
});

describe('modules of the user', () => {
  const spec = (more = ''): string =>
    `device: { preset: my-drive, capacity: 128MiB, overProvisioning: 25% }
workload: { kind: first-half, requests: 40k }
precondition: fill
modules: [${own}]
nand: { geometry: { channels: 4, planes: 1, blocksPerPlane: 80 } }
ftl: { victim: { name: oldest-but, parameters: { most: 0.8 } } }
${more}`;

  test('give strategies, workloads and drives by name, and are part of the result', async () => {
    const { spec: read, extensions } = await load(spec());
    const result = await runExperiment(read, { extensions });
    expect(result.metrics['host.write.requests']).toBe(40_000);
    expect(result.metrics['ftl.gc.runs']).toBeGreaterThan(0);
    expect(result.spec.modules).toEqual([{ path: own, sha256: sha256(readFileSync(own, 'utf8')) }]);
    expect(result.spec.device.ftl.victim).toEqual({ name: 'oldest-but', parameters: { most: 0.8 } });
    const fifo = await load(spec().replace('{ name: oldest-but, parameters: { most: 0.8 } }', 'fifo'));
    const other = await runExperiment(fifo.spec, { extensions: fifo.extensions });
    expect(other.metrics['ftl.gc.copies']).not.toBe(result.metrics['ftl.gc.copies']);
    // The policy with nothing to object to is first in, first out.
    const always = await load(spec().replace('most: 0.8', 'most: 1'));
    const same = await runExperiment(always.spec, { extensions: always.extensions });
    expect(same.metrics['ftl.gc.copies']).toBe(other.metrics['ftl.gc.copies']);
  });

  test('another text is another hash', async () => {
    const text = 'export const victims = [{ name: "v", summary: "", parameters: [], create: () => null }];\n';
    const yaml = `${smallest}modules: [m.mjs]\n`;
    const hash = async (source: string): Promise<string> => {
      const { spec: read, extensions } = await loadSpec(file(yaml, 'spec.yaml', { 'm.mjs': source }));
      return hashSpec(read, null, extensions).specHash;
    };
    expect(await hash(text)).toBe(await hash(text));
    expect(await hash(`${text}// changed\n`)).not.toBe(await hash(text));
  });

  test.each([
    ['missing', '', 'modules: [nowhere.ts]', /spec.yaml:3:10: module nowhere.ts: there is no such file/],
    [
      'that does not parse',
      '\nexport const = 1;',
      'modules: [m.ts]',
      /module .*m.ts cannot be loaded: ParseError: .*[^ ] in line 2, column \d+/,
    ],
    ['that throws', 'throw new Error("no luck");', 'modules: [m.ts]', /module .*m.ts cannot be loaded: no luck/],
    [
      'without anything of use',
      'export const a = 1;',
      'modules: [m.ts]',
      /module m.ts: exports none of mappings, victims, streams, workloads, fileWorkloads, fileSystems, readaheads, presets; it exports a/,
    ],
    [
      'with a malformed strategy',
      'export const victims = [{ name: "x" }];',
      'modules: [m.ts]',
      /"x" has no function create/,
    ],
    [
      'with a name that is taken',
      'export const victims = [{ name: "greedy", create() {} }];',
      'modules: [m.ts]',
      /"greedy" of victims is taken/,
    ],
    [
      'with a name twice',
      'const own = { name: "own", create: () => ({}) }; export const victims = [own, own];',
      'modules: [m.ts]',
      /"own" of victims is taken/,
    ],
    [
      'with a file system that cannot be made',
      'export const fileSystems = [{ name: "half", create: () => ({ onDevice: "yes", *format() {} }) }];',
      'modules: [m.ts]\nsystem: { fileSystem: half }',
      /create of the file system "half" gives an object without onDevice \(a boolean, found string\), open \(a function, found undefined\)/,
    ],
    [
      'with a read-ahead policy that lacks something',
      'export const readaheads = [{ name: "half", create: () => ({ miss() {}, marker() {}, force: null }) }];',
      'modules: [m.ts]\nsystem: { fileSystem: memfs, readahead: half }',
      /"half" gives an object without force \(a function, found null\), positionAfter \(a function, found undefined\)/,
    ],
  ])('a module %s', async (_, text, line, message) => {
    const path = file(`${smallest}${line}\n`, 'spec.yaml', text === '' ? {} : { 'm.ts': text });
    await expect(loadSpec(path)).rejects.toThrow(message);
  });
});
