import type { StrategyKind } from '@flashstack/sim';
import type { FileSystemScheme } from '@flashstack/vfs';
import { checkMiniJournal } from './check.js';
import { formatMiniJournal } from './format.js';
import { miniJournalImage } from './image-format.js';
import { MiniJournalFs } from './mini-journal.js';

interface Parameters {
  readonly inodes: number;
  readonly journalBlocks: number;
  readonly commitIntervalNs: number;
}

/** The file system by name, for stacks that are put together from a spec. */
export const miniJournalKind: StrategyKind<FileSystemScheme> = {
  name: 'mini-journal',
  summary: 'A small journaling file system: ordered data, group commit, checkpoints. Compatible with nothing.',
  parameters: [
    {
      name: 'inodes',
      type: 'integer',
      default: 0,
      min: 0,
      help: 'Files and directories there can be; 0: one for two blocks of the drive.',
    },
    {
      name: 'journalBlocks',
      type: 'integer',
      unit: 'blocks',
      default: 0,
      min: 0,
      help: 'Blocks of 4 KiB of the journal; 0: what holds two transactions that touch all maps and inodes, and 128 more.',
    },
    {
      name: 'commitIntervalNs',
      type: 'integer',
      unit: 'ns',
      default: 5_000_000_000,
      min: 1,
      help: 'Time between commits that nobody asks for.',
    },
  ],
  create: (values) => {
    const { inodes, journalBlocks, commitIntervalNs } = values as unknown as Parameters;
    const layout = { ...(inodes === 0 ? {} : { inodes }), ...(journalBlocks === 0 ? {} : { journalBlocks }) };
    return {
      onDevice: true,
      format: (device) => formatMiniJournal(device, layout),
      open: (device, environment) => new MiniJournalFs(device, environment, { commitIntervalNs }),
      check: (device) => checkMiniJournal(device),
      image: miniJournalImage,
      register: (fileSystem, layer) => {
        const { journal } = fileSystem as MiniJournalFs;
        for (const [name, before] of Object.entries({ ...journal })) {
          layer.gauge(name, () => (journal as unknown as Record<string, number>)[name] - before);
        }
      },
    };
  },
};
