import type { StrategyKind } from '@flashstack/sim';
import type { FileSystemScheme } from '@flashstack/vfs';
import { Ext4 } from './fs/ext4.js';
import { fsck } from './fsck/fsck.js';
import { mkfs } from './mkfs/mkfs.js';

interface Parameters {
  readonly bytesPerInode: number;
  readonly journalBlocks: number;
  readonly commit: number;
  readonly barrier: boolean;
}

/** Of every file system that a spec makes, so that the same spec makes the same bytes. */
const UUID: Uint8Array = Uint8Array.from('flashstack ext4 ', (character) => character.charCodeAt(0));
/** When such a file system says that it was made: the start of simulated time. */
const MADE_SEC = 1_700_000_000;

/** EXT4 by name, for stacks that are put together from a spec. */
export const ext4Kind: StrategyKind<FileSystemScheme> = {
  name: 'ext4',
  summary: 'EXT4 with JBD2 in the format of Linux: data=ordered, delayed allocation, group commit.',
  parameters: [
    {
      name: 'bytesPerInode',
      type: 'integer',
      unit: 'bytes',
      default: 0,
      min: 0,
      help: 'Space for which mkfs makes an inode; 0: as mke2fs, 4,096 below 512 MiB, then 16,384.',
    },
    {
      name: 'journalBlocks',
      type: 'integer',
      unit: 'blocks',
      default: 0,
      min: 0,
      help: 'Blocks of 4 KiB of the journal, at least 1,024; 0: by size, as mke2fs.',
    },
    {
      name: 'commit',
      type: 'number',
      unit: 's',
      default: 5,
      min: 0.001,
      max: 900,
      help: 'Between commits that nobody asks for.',
    },
    {
      name: 'barrier',
      type: 'boolean',
      default: true,
      help: 'The drive is flushed for the journal; false: nobarrier.',
    },
  ],
  create: (values) => {
    const { bytesPerInode, journalBlocks, commit, barrier } = values as unknown as Parameters;
    const sizes = {
      ...(bytesPerInode === 0 ? {} : { bytesPerInode }),
      ...(journalBlocks === 0 ? {} : { journalBlocks }),
    };
    return {
      onDevice: true,
      format: (device) => mkfs(device, { uuid: UUID, hashSeed: UUID, timeSec: MADE_SEC, ...sizes }),
      open: (device, environment) => new Ext4(device, environment, { commit, barrier }),
      *check(device) {
        const problems = yield* fsck(device);
        return problems.map(({ structure, place, reason }) => `${structure} ${place}: ${reason}`);
      },
      register: (fileSystem, layer) => {
        const { journal } = fileSystem as Ext4;
        for (const [name, before] of Object.entries({ ...journal })) {
          layer.gauge(name, () => (journal as unknown as Record<string, number>)[name] - before);
        }
      },
    };
  },
};
