import { checkMiniJournal, formatMiniJournal, MiniJournalFs, type PlantedName } from '@flashstack/mini-journal';
import { type CrashSubject, DURABILITY_RULES } from '../src/index.js';

/** The miniature file system on a volume of 512 KiB, with defects if they are named. */
export function miniJournal(...planted: PlantedName[]): CrashSubject {
  return {
    name: 'mini-journal',
    scheme: {
      onDevice: true,
      format: (device) => formatMiniJournal(device, { inodes: 32, journalBlocks: 70 }),
      open: (device, environment) => new MiniJournalFs(device, environment, {}, new Set(planted)),
    },
    blocks: 128,
    rules: DURABILITY_RULES['mini-journal'],
    check: (device) => checkMiniJournal(device),
  };
}
