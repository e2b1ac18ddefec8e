import { grown } from './columns.js';
import type { Token } from './contract.js';

/**
 * Which programs in flight supersede data of which blocks, and the erases that wait for them. The blocks of a program are
 * a linked list of nodes.
 */
export class EraseGuards {
  /** Erases that have one thing less to wait for, once per guarded block; the scheduler empties it. */
  readonly due: Token[] = [];
  /** Per block: programs in flight that supersede data of it. */
  private readonly pending: Int32Array;
  /** Per block: the erase that waits for them, 0: none. */
  private readonly held: Int32Array;
  /** Per program token: first node, 0: none. */
  private first: Int32Array = new Int32Array(64);
  private block: Int32Array = new Int32Array(256);
  private next: Int32Array = new Int32Array(256);
  private free = 0;
  private used = 1;

  constructor(blocks: number) {
    this.pending = new Int32Array(blocks);
    this.held = new Int32Array(blocks);
  }

  /** Program `token`, in flight, supersedes data of `block`. */
  add(block: number, token: Token): void {
    if (token >= this.first.length) this.first = grown(this.first, new Int32Array(2 * token));
    let node = this.free;
    if (node !== 0) this.free = this.next[node];
    else {
      if (this.used === this.block.length) {
        this.block = grown(this.block, new Int32Array(2 * this.used));
        this.next = grown(this.next, new Int32Array(2 * this.used));
      }
      node = this.used++;
    }
    this.block[node] = block;
    this.next[node] = this.first[token];
    this.first[token] = node;
    this.pending[block]++;
  }

  /** True if an erase of `block` has to wait; it is then remembered as `erase`. */
  holds(block: number, erase: Token): boolean {
    if (this.pending[block] === 0) return false;
    this.held[block] = erase;
    return true;
  }

  /** Program `token` is durable. */
  release(token: Token): void {
    if (token >= this.first.length) return;
    let node = this.first[token];
    this.first[token] = 0;
    while (node !== 0) {
      const block = this.block[node];
      const after = this.next[node];
      this.next[node] = this.free;
      this.free = node;
      node = after;
      if (--this.pending[block] > 0 || this.held[block] === 0) continue;
      this.due.push(this.held[block]);
      this.held[block] = 0;
    }
  }

  /** Nothing is in flight any more. */
  clear(): void {
    this.pending.fill(0);
    this.held.fill(0);
    this.first.fill(0);
    this.due.length = 0;
    this.free = 0;
    this.used = 1;
  }
}
