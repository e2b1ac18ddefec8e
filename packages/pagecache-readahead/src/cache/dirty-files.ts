import type { FileMapping } from './file-mapping.js';

/** Files with dirty pages in the order in which they became dirty, or were put back. */
export class DirtyFiles {
  first: FileMapping | null = null;
  length = 0;
  private last: FileMapping | null = null;

  append(file: FileMapping): void {
    if (file.queued) return;
    file.queued = true;
    file.nextDirty = null;
    file.previousDirty = this.last;
    if (this.last === null) this.first = file;
    else this.last.nextDirty = file;
    this.last = file;
    this.length++;
  }

  /** The first one, which goes to the end. */
  rotate(): FileMapping | null {
    const file = this.first;
    if (file === null || file === this.last) return file;
    this.remove(file);
    this.append(file);
    return file;
  }

  remove(file: FileMapping): void {
    if (!file.queued) return;
    file.queued = false;
    const { nextDirty, previousDirty } = file;
    if (previousDirty === null) this.first = nextDirty;
    else previousDirty.nextDirty = nextDirty;
    if (nextDirty === null) this.last = previousDirty;
    else nextDirty.previousDirty = previousDirty;
    file.nextDirty = null;
    file.previousDirty = null;
    this.length--;
  }
}
