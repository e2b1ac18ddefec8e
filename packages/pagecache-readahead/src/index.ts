export { FileMapping } from './cache/file-mapping.js';
export { FileReader } from './cache/file-reader.js';
export { LinuxPageCache, type LinuxPageCacheOptions, type PageBackend } from './cache/linux-page-cache.js';
export { PageMemory } from './cache/memory.js';
export {
  LEAST_MEMORY_BYTES,
  type PageCacheOptions,
  pageCacheParameters,
  resolvePageCacheOptions,
} from './cache/options.js';
export { PageCacheStats } from './cache/stats.js';
export { faultHit, faultMissed } from './readahead/faults.js';
export { ReadaheadFile, type ReadaheadFileOptions } from './readahead/file-model.js';
export { readaheadKinds } from './readahead/kinds.js';
export { Linux2637Readahead } from './readahead/linux-2-6-37.js';
export { Linux6Readahead } from './readahead/linux-6.js';
export { NoReadahead } from './readahead/none.js';
export type { ReadaheadPages, ReadaheadPolicy } from './readahead/policy.js';
export { type ReadaheadLimits, ReadaheadState } from './readahead/state.js';
