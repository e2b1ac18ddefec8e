export { checkMiniJournal } from './check.js';
export { formatMiniJournal } from './format.js';
export { miniJournalImage } from './image-format.js';
export type { JournalStats } from './journal.js';
export { miniJournalKind } from './kind.js';
export type { FormatOptions } from './layout.js';
export { MiniJournalFs } from './mini-journal.js';
export type { MiniJournalOptions } from './options.js';
export { type Planted, type PlantedBug, type PlantedName, plantedBugs } from './planted.js';
