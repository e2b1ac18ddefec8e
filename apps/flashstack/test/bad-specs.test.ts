import { readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cli, folder, postgres, spec, text } from './spec-runs.js';

describe('bad specs: one paragraph, exit code 2, no file', () => {
  const device = 'device: mqsim-b8\nworkload: random\n';

  async function refused(contents: string): Promise<string> {
    const at = folder();
    const path = spec(contents);
    const { code, out, err } = await cli(['run', path, '--out', at]);
    expect([code, out]).toEqual([2, '']);
    expect(readdirSync(at)).toEqual([]);
    expect(err).not.toMatch(/^\s+at /m);
    const lines = err.trimEnd().split('\n');
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {3}/);
    return err.replaceAll(path, 'small.yaml');
  }

  test('a module that fails is named; --debug shows where in it', async () => {
    const at = folder();
    writeFileSync(`${at}/mine.ts`, 'function broken(): never { throw new Error("no luck"); }\nbroken();\n');
    const path = spec(`${device}modules: [${at}/mine.ts]\n`);
    const { err } = await cli(['run', path]);
    expect(err.replace(/\s+/g, ' ')).toContain('mine.ts cannot be loaded: no luck');
    expect(err).not.toContain('at broken');
    expect((await cli(['run', path, '--debug'])).err).toMatch(/at broken \(.*mine\.ts/);
  });

  test('an unknown key, as designed', async () => {
    const said = await refused(`${device}ftl:\n  victm: greedy\n`);
    // Where the sentence is broken depends on how long the path of the file is.
    const shown = said.indexOf('\n   3 | ');
    expect(said.slice(0, shown).replace(/\s+/g, ' ') + said.slice(shown)).toBe(`\
error: small.yaml:4:3: unknown key ftl.victm.
   3 | ftl:
   4 |   victm: greedy
     |   ^^^^^  did you mean victim?
   See: flashstack schema ftl
`);
  });

  test.each([
    ['a wrong type', `${device}seed: many\n`, 'seed is "many"'],
    ['a wrong unit', `${device}gatherNs: 4KiB\n`, 'expected a time'],
    ['a key twice', `${device}device: emmc-5.0\n`, 'key device stands twice'],
    ['a missing module', `${device}modules: [nowhere.ts]\n`, 'there is no such file'],
    ['a missing trace', 'device: mqsim-b8\nworkload: nowhere.csv\n', 'there is no such file'],
    ['no YAML', 'device: [\n', 'this is no YAML'],
    [
      'a workload that the drive cannot take',
      'device: mqsim-b8\nworkload: segments\n',
      'error: workload: segmentBytes is missing',
    ],
    [
      'too little spare space',
      `device: { preset: mqsim-b8, capacity: 256MiB, overProvisioning: 0.1% }\nworkload: random\n`,
      'too little to collect garbage',
    ],
  ])('%s', async (_, contents, message) => {
    expect((await refused(contents)).replace(/\s+/g, ' ')).toContain(message);
  });

  test('--set of what is set elsewhere, or nowhere', async () => {
    const set = async (setting: string): Promise<string> => {
      const { code, err } = await cli(['run', spec(), '--set', setting]);
      expect(code).toBe(2);
      return err.replace(/\s+/g, ' ');
    };
    expect(await set('ftl.logicalSlots=5')).toContain('It follows from the capacity');
    expect(await set('capacityBytes=5')).toContain('--capacity');
    expect(await set('foo=1')).not.toContain('Did you mean');
    expect(await set('nand.geometry.plane=1')).toBe(
      'error: unknown key nand.geometry.plane. Did you mean planes? See: flashstack schema nand ',
    );
  });

  test('a small drive names the least capacity', async () => {
    const { code, err } = await cli([
      'replay',
      postgres,
      '--device',
      'generic-tlc-nvme',
      '--capacity',
      '512MiB',
      '--address',
      'wrap',
    ]);
    expect(code).toBe(2);
    const least = Number(
      /The least capacity of this drive with this over-provisioning is\s+(\d+)\s+MiB/.exec(err)?.[1],
    );
    expect(least).toBeGreaterThan(512);
    const fits = await cli([
      'replay',
      postgres,
      '--device',
      'generic-tlc-nvme',
      '--capacity',
      `${least}MiB`,
      '--address',
      'wrap',
    ]);
    expect(fits.code).toBe(0);
  });
});

describe('a policy of the user', () => {
  test('that fails is named as such, not as a defect of flashstack', async () => {
    const path = spec(`modules: [bad.ts]\n${text.replace('20k', '60k')}ftl: { victim: bad }\n`);
    const methods = 'attach() {}, closed() {}, invalidated() {}, removed() {}, reset() {}';
    const choose = `choose() { throw new Error('no idea'); }`;
    const kind = `{ name: 'bad', summary: 'x', parameters: [], create: () => ({ ${methods}, ${choose} }) }`;
    writeFileSync(path.replace('small.yaml', 'bad.ts'), `export const victims = [${kind}];\n`);
    const { code, err } = await cli(['run', path, '--debug']);
    expect(code).toBe(2);
    expect(err).toContain('the run failed: no idea\n   Modules of your own took part: look at bad.ts first.');
    expect(err).not.toContain('defect');
    expect(err).toMatch(/at .*bad\.ts:1/);
  });
});
