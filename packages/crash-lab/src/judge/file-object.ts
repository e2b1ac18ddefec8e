import { Register } from './register.js';
import type { TreeNode } from './tree.js';

/** Unit of contents that is judged by itself, bytes. */
export const BLOCK_BYTES = 4096;
const NONE: ReadonlyMap<string, string> = new Map();

/** Where a name stands. */
export interface Name {
  readonly directory: FileObject;
  readonly name: string;
}

/** A file, directory or link of the model, whatever it is called, with everything that it has ever been. */
export class FileObject {
  readonly kind: TreeNode['kind'];
  /** Position of the operation that made it. */
  readonly born: number;
  readonly target: string;
  readonly mode: Register<number>;
  /** `uid:gid`. */
  readonly owner: Register<string>;
  readonly attributes: Register<ReadonlyMap<string, string>>;
  /** Names that lead to it, of a directory one at most. */
  readonly names: Register<readonly Name[]>;
  /** Bytes. */
  readonly size: Register<number>;
  /** Contents by blocks, zeroes behind the end; null: all zero. */
  readonly blocks: Register<Uint8Array | null>[] = [];
  /** Entries of a directory. */
  readonly entries: Map<string, Register<FileObject | null>> = new Map();
  /** Blocks have been allocated without being written. */
  preallocated = false;

  constructor(kind: TreeNode['kind'], born: number, mode: number, target = '') {
    this.kind = kind;
    this.born = born;
    this.target = target;
    this.mode = new Register(born, mode);
    this.owner = new Register(born, '0:0');
    this.attributes = new Register(born, NONE);
    this.names = new Register<readonly Name[]>(born, []);
    this.size = new Register(born, 0);
  }

  /** The register of a block. */
  block(number: number): Register<Uint8Array | null> {
    for (let next = this.blocks.length; next <= number; next++) {
      this.blocks.push(new Register<Uint8Array | null>(this.born, null));
    }
    return this.blocks[number];
  }

  /** The register of an entry. */
  entry(name: string): Register<FileObject | null> {
    let entry = this.entries.get(name);
    if (entry === undefined) {
      entry = new Register<FileObject | null>(this.born, null);
      this.entries.set(name, entry);
    }
    return entry;
  }

  /** A path that leads to it at a position, for people. */
  pathAt(position: number): string {
    const [name] = this.names.at(position);
    if (name === undefined) return '';
    const above = name.directory.pathAt(position);
    return above === '' ? name.name : `${above}/${name.name}`;
  }
}
