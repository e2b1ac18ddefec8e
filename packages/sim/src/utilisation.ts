/**
 * How busy a resource is over time: the time in which anything is in it, and the time integral of how much is in it.
 * A resource of one server has level 0 or 1; a queue or a set of dies more.
 */
export class Utilisation {
  private level = 0;
  // [time of the last change, busy ns, level × ns, time of the first measurement]
  private readonly columns: Float64Array = new Float64Array(4);

  /** What is in it now. */
  get present(): number {
    return this.level;
  }

  /** One more is in it from `nowNs` on. @throws RangeError if time runs backwards. */
  enter(nowNs: number): void {
    this.settle(nowNs);
    this.level++;
  }

  /** One less. @throws RangeError if time runs backwards or it is empty. */
  leave(nowNs: number): void {
    this.settle(nowNs);
    if (this.level === 0) throw new RangeError('utilisation: more left than entered');
    this.level--;
  }

  /** Counts a period that is known as a whole, such as a reservation that overlaps no other. */
  add(ns: number): void {
    this.columns[1] += ns;
    this.columns[2] += ns;
  }

  /** Starts measuring anew at `nowNs`; what is in it stays. */
  reset(nowNs: number): void {
    this.columns.set([nowNs, 0, 0, nowNs]);
  }

  /** Time in which something was in it, up to `nowNs`, ns. */
  busyNs(nowNs: number): number {
    this.settle(nowNs);
    return this.columns[1];
  }

  /** Part of the time since the start of measuring in which something was in it; 0 if no time has passed. */
  busyFraction(nowNs: number): number {
    const elapsed = nowNs - this.columns[3];
    return elapsed > 0 ? this.busyNs(nowNs) / elapsed : 0;
  }

  /** Mean of what was in it since the start of measuring; 0 if no time has passed. */
  meanLevel(nowNs: number): number {
    this.settle(nowNs);
    const elapsed = nowNs - this.columns[3];
    return elapsed > 0 ? this.columns[2] / elapsed : 0;
  }

  private settle(nowNs: number): void {
    const columns = this.columns;
    const passed = nowNs - columns[0];
    if (!(passed >= 0)) throw new RangeError(`utilisation: ${nowNs} ns is before ${columns[0]} ns`);
    columns[0] = nowNs;
    if (this.level > 0) columns[1] += passed;
    columns[2] += passed * this.level;
  }
}
