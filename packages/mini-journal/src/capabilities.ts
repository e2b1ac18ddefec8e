import type { FsCapabilities } from '@flashstack/vfs';
import { MOST_PAGES } from './block-map.js';
import { NAME_BYTES } from './directory.js';
import { BLOCK_BYTES } from './layout.js';

/** What the file system offers. */
export const capabilities: FsCapabilities = {
  name: 'mini-journal',
  nameBytes: NAME_BYTES,
  fileBytes: MOST_PAGES * BLOCK_BYTES,
  links: 2 ** 32 - 1,
  symlinks: true,
  specialFiles: true,
  unnamedFiles: true,
  sparse: true,
  seeksHoles: false,
  fallocate: [],
  attributeBytes: 0,
  directBytes: 0,
  renameExchange: true,
  timeNs: 1,
  durable: true,
};
