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
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Guide', link: '/guide/first-simulation' },
      { text: 'Packages', link: '/packages/ssd' },
      { text: 'Validation', link: '/validation/' },
      { text: 'Decisions', link: '/decisions/' },
    ],
    sidebar: [
      {
        text: 'Guide',
        items: [
          { text: 'First simulation', link: '/guide/first-simulation' },
          { text: 'Reading a result', link: '/guide/reading-a-result' },
          { text: 'A strategy of your own', link: '/guide/own-strategy' },
          { text: 'Dictionary', link: '/dictionary' },
        ],
      },
      { text: 'Packages', items: packages.map((name) => ({ text: name, link: `/packages/${name}` })) },
      { text: 'Validation', link: '/validation/' },
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
