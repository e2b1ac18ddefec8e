import { type Extensions, noExtensions } from '@flashstack/experiment';
import { ext4Kind } from '@flashstack/ext4-jbd2';
import { miniJournalKind } from '@flashstack/mini-journal';

/** What specs can name on the command line: what comes with the packages, and the small journaling file system. */
export const knownNames: Extensions = {
  ...noExtensions,
  fileSystems: [...noExtensions.fileSystems, ext4Kind, miniJournalKind],
};
