export { formatMiniJournal } from './format.js';
export type { JournalStats } from './journal.js';
export { miniJournalKind } from './kind.js';
export type { FormatOptions } from './layout.js';
export { MiniJournalFs, type MiniJournalOptions } from './mini-journal.js';
