import { mix32 } from '@flashstack/sim';
import type { Tree, TreeNode } from '../judge/tree.js';

const KINDS = ['file', 'directory', 'symlink', 'other'];

/** Halves of the identity of a tree, which is the same for trees of the same paths and files, links included. */
export class TreeIdentity {
  low = 0;
  high = 0;
  private readonly numbers: Map<TreeNode, number> = new Map();

  /** Takes up another tree. */
  of(tree: Tree): this {
    const { numbers } = this;
    this.low = tree.size;
    this.high = tree.size;
    numbers.clear();
    for (const [path, node] of tree) {
      this.addText(path);
      const known = numbers.get(node);
      this.add(known ?? -1);
      if (known !== undefined) continue;
      numbers.set(node, numbers.size);
      this.addNode(node);
    }
    return this;
  }

  private addNode(node: TreeNode): void {
    this.add(KINDS.indexOf(node.kind));
    for (const value of [node.mode, node.uid, node.gid, node.links, node.size % 2 ** 32, node.sectors]) this.add(value);
    this.addText(node.target);
    for (const [name, value] of node.attributes) {
      this.addText(name);
      this.addText(value);
    }
    const { contents } = node;
    const words = contents.byteOffset % 4 === 0 ? contents.byteLength >> 2 : 0;
    const whole = new Int32Array(contents.buffer, words === 0 ? 0 : contents.byteOffset, words);
    let { low, high } = this;
    for (let at = 0; at < words; at++) {
      low = Math.imul(low ^ whole[at], 0x9e3779b1);
      low = (low << 13) | (low >>> 19);
      high = Math.imul(high + whole[at], 0xc2b2ae3d);
      high = (high << 17) | (high >>> 15);
    }
    this.low = low;
    this.high = high;
    for (let at = words * 4; at < contents.length; at++) this.add(contents[at]);
  }

  private addText(text: string): void {
    this.add(text.length);
    for (let at = 0; at < text.length; at++) this.add(text.charCodeAt(at));
  }

  private add(value: number): void {
    this.low = mix32(this.low ^ Math.imul(value | 0, 0x9e3779b1));
    this.high = mix32(Math.imul(this.high, 31) + value);
  }
}
