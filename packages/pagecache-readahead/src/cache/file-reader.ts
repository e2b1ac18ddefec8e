import { type ReadaheadLimits, ReadaheadState } from '../readahead/state.js';

/** What the cache remembers of one open file description. */
export class FileReader {
  readonly state: ReadaheadState;
  /** Page that the last read ended in: reading on in it is no second access. */
  lastPage = -1;
  /** FADV_NOREUSE: reads leave recency alone. */
  noReuse = false;

  constructor(limits: ReadaheadLimits) {
    this.state = new ReadaheadState(limits);
  }
}
