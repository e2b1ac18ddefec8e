import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const pages = (folder: string): string[] =>
  readdirSync(new URL(`../${folder}`, import.meta.url))
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => file.replace(/\.md$/, ''))
    .sort();
const packages = [
  'sim',
  'codec',
  'block-device',
  'vfs',
  'pagecache-readahead',
  'host',
  'ext4-jbd2',
  'crash-lab',
  'nand-device',
  'ftl',
  'ssd',
  'workloads',
  'experiment',
  'report',
  'flashstack',
];

export default defineConfig({
  title: 'flashstack',
  description: 'A flash storage stack as a library: one deterministic simulation from trace to NAND cell.',
  cleanUrls: true,
  lastUpdated: false,
  // What the command prints has lines of 79 characters, which fit so.
  head: [['style', {}, '.vp-doc .language-text code { font-size: 12px }']],
  // Pages of the API reference are large; each is loaded on its own.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide/first-simulation' },
      { text: 'Packages', link: '/packages/ssd' },
      { text: 'Reference', link: '/reference/api/' },
      { text: 'Validation', link: '/validation/' },
      { text: 'Decisions', link: '/decisions/' },
    ],
    sidebar: [
      {
        text: 'Guide',
        items: [
          { text: 'First simulation', link: '/guide/first-simulation' },
          { text: 'Reading a result', link: '/guide/reading-a-result' },
          { text: 'Dictionary', link: '/dictionary' },
        ],
      },
      {
        text: 'How to',
        items: [
          { text: 'Run programs on a whole stack', link: '/guide/whole-stack' },
          { text: 'Write your own victim policy', link: '/guide/own-strategy' },
          { text: 'Write append-only drives', link: '/guide/append-only-drives' },
          { text: 'Write your own mapping scheme', link: '/guide/own-mapping' },
          { text: 'Write your own device preset', link: '/guide/own-preset' },
          { text: 'Read a trace of your own format', link: '/guide/own-trace-format' },
          { text: 'Compare two drives or seeds', link: '/guide/compare' },
          { text: 'Query results with DuckDB', link: '/guide/query-results' },
          { text: 'Use it in the browser', link: '/guide/in-a-browser' },
          { text: 'Save a preconditioned drive', link: '/guide/save-a-drive' },
          { text: 'Crash-test your own file system', link: '/guide/crash-test' },
          { text: 'Work with real images', link: '/guide/real-images' },
        ],
      },
      { text: 'Packages', items: packages.map((name) => ({ text: name, link: `/packages/${name}` })) },
      {
        text: 'Reference',
        items: [
          { text: 'Options of a spec', link: '/reference/options' },
          { text: 'API', link: '/reference/api/' },
        ],
      },
      {
        text: 'Validation',
        link: '/validation/',
        items: [
          { text: 'Presets', link: '/validation/presets' },
          { text: 'Published experiments', link: '/validation/reproductions' },
        ],
      },
      {
        text: 'Decisions',
        link: '/decisions/',
        items: pages('decisions').map((name) => ({
          text: name.replace(/^\d+-/, '').replaceAll('-', ' '),
          link: `/decisions/${name}`,
        })),
      },
    ],
  },
});
