import { Permutation, type RandomSource, type RandomStream, type RankDistribution } from '@flashstack/sim';
import { distributionOf, type FileJob, isRandom, kindsOf } from './file-job-options.js';

/** Kinds of operation of a file job. */
export const JobOp = { read: 0, write: 1, fsync: 2, fdatasync: 3 } as const;

// Times and offsets live in a typed array: a double in a field of a large object may be boxed on every store.
const OFFSET = 0;
const ISSUED = 1;
const READ_NEXT = 2;
const WRITE_NEXT = 3;
const IN_PASS = 4;

/** The operations of one clone of a job, in the order in which they begin. */
export class JobPlan {
  /** A {@link JobOp}, set by `next`. */
  op = 0;
  /** Passes over the file that have begun. */
  passes = 1;
  private readonly job: FileJob;
  private readonly blocks: number;
  private readonly random: boolean;
  private readonly mixed: boolean;
  private readonly readFirst: boolean;
  private readonly readShare: number;
  private readonly ranks: RankDistribution | null;
  private readonly scatter: Permutation | null;
  private order: Permutation | null;
  private readonly state = new Float64Array(5);
  private readonly addresses: RandomStream;
  private readonly directions: RandomStream;
  private writes = 0;
  private syncDue = false;

  /** @param clone number of the clone, from 0; each has random streams of its own. */
  constructor(job: FileJob, clone: number, random: RandomSource) {
    this.job = job;
    this.blocks = Math.floor(job.size / job.bs);
    this.random = isRandom(job);
    const { reads, writes } = kindsOf(job);
    this.mixed = reads && writes;
    this.readFirst = reads;
    this.readShare = job.rwmixread / 100;
    const name = `${job.name}.${clone}`;
    this.addresses = random.stream(`file-job.${name}.address`);
    this.directions = random.stream(`file-job.${name}.direction`);
    this.ranks = this.random ? distributionOf(job, this.blocks) : null;
    const skewed = this.ranks !== null && job.randomDistribution !== 'random';
    this.scatter = skewed ? new Permutation(this.ranks.n, random.stream(`file-job.${name}.scatter`)) : null;
    this.order = this.random && this.ranks === null ? new Permutation(this.blocks, this.addresses) : null;
  }

  /** Where the operation that `next` set is, in bytes; of a sync where the last write was. */
  get offset(): number {
    return this.state[OFFSET];
  }

  /** Sets the next operation; false if all have begun. */
  next(): boolean {
    const { job, state } = this;
    if (this.syncDue) {
      this.syncDue = false;
      const full = job.fsync > 0 && this.writes % job.fsync === 0;
      // Nothing follows the last write, as in fio.
      if (!this.more()) return false;
      this.op = full ? JobOp.fsync : JobOp.fdatasync;
      return true;
    }
    if (!this.more()) return false;
    if (state[IN_PASS] === this.blocks) this.pass();
    const read = this.mixed ? this.directions.nextFloat() < this.readShare : this.readFirst;
    this.op = read ? JobOp.read : JobOp.write;
    this.place(read);
    state[IN_PASS]++;
    state[ISSUED] += job.bs;
    if (!read) {
      this.writes++;
      const { fsync, fdatasync } = job;
      this.syncDue = (fsync > 0 && this.writes % fsync === 0) || (fdatasync > 0 && this.writes % fdatasync === 0);
    }
    return true;
  }

  /** Within a pass whatever is missing is transferred by whole blocks; a new pass needs room for one. */
  private more(): boolean {
    const { job, state } = this;
    if (job.timeBased) return true;
    const left = job.ioSize - state[ISSUED];
    return left >= job.bs || (left > 0 && state[IN_PASS] < this.blocks);
  }

  private pass(): void {
    const { state } = this;
    this.passes++;
    state[IN_PASS] = 0;
    state[READ_NEXT] = 0;
    state[WRITE_NEXT] = 0;
    if (this.order !== null) this.order = new Permutation(this.blocks, this.addresses);
  }

  private place(read: boolean): void {
    const { job, state } = this;
    let block = 0;
    if (!this.random) {
      // Reads and writes of a mix each go through the file for themselves.
      const next = read ? READ_NEXT : WRITE_NEXT;
      block = state[next]++;
    } else if (this.order !== null) {
      block = this.order.map(state[IN_PASS]);
    } else if (this.ranks !== null) {
      const rank = this.ranks.next(this.addresses);
      block = this.scatter === null ? rank : this.scatter.map(rank);
    }
    state[OFFSET] = block * job.bs;
  }
}
