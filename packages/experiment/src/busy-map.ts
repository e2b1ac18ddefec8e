/** How busy each of several resources was over time. `permille` holds rows × columns values from 0 to 1000, row by row. */
export interface HeatmapRecord {
  /** Width of a column, ns; the last one may be cut short by the end of the run. */
  readonly widthNs: number;
  readonly columns: number;
  /** Name of each row. */
  readonly rows: readonly string[];
  readonly permille: readonly number[];
}

/** Columns of a heat map, at most. */
const COLUMNS = 200;
/** First width of a column, ns; it doubles whenever the columns are full. */
const FIRST_WIDTH_NS = 10_000;

/**
 * Busy time of several resources over simulated time, from counters that only grow. A scheduler books work ahead, so a
 * counter may run ahead of the clock: what does not fit into the time that has passed is carried over.
 */
export class BusyMap {
  /** Present width of a column, ns. */
  widthNs: number = FIRST_WIDTH_NS;
  private readonly rows: readonly string[];
  private readonly busy: Float64Array;
  private readonly seen: Float64Array;
  private readonly carried: Float64Array;
  private lastNs = 0;

  constructor(rows: readonly string[]) {
    this.rows = rows;
    this.busy = new Float64Array(rows.length * COLUMNS);
    this.seen = new Float64Array(rows.length);
    this.carried = new Float64Array(rows.length);
  }

  /** Takes the counters, ns, at a time since the start, ns; times only grow. */
  sample(timeNs: number, counters: Float64Array): void {
    const from = this.lastNs;
    if (timeNs <= from) return;
    while (timeNs > this.widthNs * COLUMNS) this.join();
    for (let row = 0; row < this.rows.length; row++) {
      const due = this.carried[row] + counters[row] - this.seen[row];
      const spent = Math.min(due, timeNs - from);
      this.seen[row] = counters[row];
      this.carried[row] = due - spent;
      if (spent > 0) this.spread(row, from, timeNs, spent / (timeNs - from));
    }
    this.lastNs = timeNs;
  }

  /** The counters start from zero again. */
  restart(): void {
    this.seen.fill(0);
  }

  /** Plain data for a result file. */
  toRecord(): HeatmapRecord {
    const { widthNs, lastNs, rows } = this;
    const columns = Math.ceil(lastNs / widthNs);
    const permille: number[] = [];
    for (let row = 0; row < rows.length; row++) {
      for (let column = 0; column < columns; column++) {
        const width = Math.min(widthNs, lastNs - column * widthNs);
        permille.push(Math.round((1000 * this.busy[row * COLUMNS + column]) / width));
      }
    }
    return { widthNs, columns, rows, permille };
  }

  private spread(row: number, fromNs: number, toNs: number, share: number): void {
    const { widthNs, busy } = this;
    for (let column = Math.floor(fromNs / widthNs); column * widthNs < toNs; column++) {
      const start = Math.max(fromNs, column * widthNs);
      const end = Math.min(toNs, (column + 1) * widthNs);
      busy[row * COLUMNS + column] += (end - start) * share;
    }
  }

  private join(): void {
    for (let row = 0; row < this.rows.length; row++) {
      const cells = this.busy.subarray(row * COLUMNS, (row + 1) * COLUMNS);
      for (let at = 0; at < COLUMNS / 2; at++) cells[at] = cells[2 * at] + cells[2 * at + 1];
      cells.fill(0, COLUMNS / 2);
    }
    this.widthNs *= 2;
  }
}
