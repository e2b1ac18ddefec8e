// API reference: a page for each entry that a package publishes, made from the doc comments of its sources.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const packages = new URL('../packages/', import.meta.url);

/** Source files of the entries of a published package. */
function entriesOf(name) {
  const manifest = new URL(`${name}/package.json`, packages);
  if (!existsSync(manifest)) return [];
  const { private: hidden = false, exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  if (hidden) return [];
  return Object.values(exports)
    .map((target) => target['@flashstack/source'])
    .filter((source) => source !== undefined)
    .map((source) => `../packages/${name}/${source.slice('./'.length)}`);
}

/** @type {import('typedoc').TypeDocOptions & import('typedoc-plugin-markdown').PluginOptions} */
export default {
  name: 'API reference',
  plugin: ['typedoc-plugin-markdown', './entry-names.js'],
  entryPoints: readdirSync(packages).sort().flatMap(entriesOf),
  tsconfig: 'tsconfig.json',
  out: 'reference/api',
  router: 'module',
  entryFileName: 'index',
  readme: 'none',
  disableSources: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useHTMLAnchors: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  enumMembersFormat: 'table',
  logLevel: 'Warn',
  // A link in a doc comment to what is not exported, or an unknown tag, fails the build.
  treatWarningsAsErrors: true,
};
