import type { Task } from '@flashstack/sim';
import { MemoryAdvice } from '@flashstack/vfs';
import { faultHit, faultMissed } from '../readahead/faults.js';
import type { ReadaheadState } from '../readahead/state.js';
import type { FileMapping } from './file-mapping.js';
import { PageFlag } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';

/** Pages that one fault may map along. */
const FAULT_AROUND = 16;

/** A fault of a shared mapping: the page is up to date and mapped afterwards. @throws FsError EIO */
export function* fault(
  cache: LinuxPageCache,
  file: FileMapping,
  state: ReadaheadState,
  page: number,
  advice: number,
): Task<number> {
  const { frames, stats, lru } = cache.memory;
  if (mapAround(cache, file, state, page)) {
    stats.hits++;
    lru.touch(file.find(page));
    return 0;
  }
  const frame = file.find(page);
  if (frame === 0) {
    stats.misses++;
    faultMissed(cache.policy, state, file, page, advice);
  } else {
    stats.hits++;
    faultHit(state);
    if ((frames.flags[frame] & PageFlag.marker) !== 0 && advice !== MemoryAdvice.random) {
      frames.flags[frame] &= ~PageFlag.marker;
      cache.policy.marker(state, file, page, state.raPages);
    }
  }
  const started = cache.fetches.start();
  if (typeof started !== 'number') yield* started;
  yield* cache.awaitPage(file, page);
  if (!file.isCached(page)) yield* cache.readAlone(file, page);
  frames.flags[file.find(page)] |= PageFlag.mapped;
  lru.touch(file.find(page));
  return 0;
}

/** Maps what is up to date and not marked among the sixteen pages about this one; true: this one is mapped. */
function mapAround(cache: LinuxPageCache, file: FileMapping, state: ReadaheadState, page: number): boolean {
  const { frames } = cache.memory;
  const first = page - (page % FAULT_AROUND);
  for (let at = first; at < first + FAULT_AROUND; at++) {
    const frame = file.find(at);
    const flags = frames.flags[frame];
    if ((flags & (PageFlag.upToDate | PageFlag.marker | PageFlag.mapped)) !== PageFlag.upToDate) continue;
    frames.flags[frame] = flags | PageFlag.mapped;
    faultHit(state);
  }
  return (frames.flags[file.find(page)] & PageFlag.mapped) !== 0;
}
