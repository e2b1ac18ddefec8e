import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { u32 } from '../format/bytes.js';
import { Incompat } from '../format/features.js';
import { InodeFlag } from '../format/inode-record.js';
import { Ino, SB } from '../format/superblock.js';
import { readEntries, type StoredEntry } from '../volume/contents.js';
import type { StoredInode } from '../volume/volume.js';
import { checkHashTree } from './check-hash-tree.js';
import type { Findings } from './findings.js';

/** A directory with more links than this says 1 (`dir_nlink`). */
const MOST_LINKS = 65_000;

/** Goes through the tree from its root, then looks for what does not belong to it. */
export function* checkDirectories(findings: Findings): Task<void> {
  const { geometry, volume } = findings;
  if (findings.kinds[Ino.root] !== FileKind.directory) {
    findings.add('inode', Ino.root, 'the root is no directory');
    return;
  }
  const reached = new Uint8Array(geometry.inodes + 1);
  const waiting: [ino: number, parent: number][] = [[Ino.root, Ino.root]];
  reached[Ino.root] = 1;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [ino, parent] = next;
    const directory = yield* volume.inode(ino);
    const entries = yield* findings.part('directory', ino, readEntries(volume, directory));
    if (entries === null) continue;
    checkEntries(findings, directory, parent, entries);
    for (const entry of entries) {
      if (entry.name === '.' || entry.name === '..' || findings.kinds[entry.ino] !== FileKind.directory) continue;
      if (reached[entry.ino] !== 0)
        findings.add('directory', ino, `${entry.name} is a second name of directory ${entry.ino}`);
      else waiting.push([entry.ino, ino]);
      reached[entry.ino] = 1;
    }
    if ((directory.record.flags & InodeFlag.index) !== 0) {
      yield* findings.part('directory', ino, checkHashTree(findings, directory));
    }
  }
  checkLinks(findings, reached);
}

function checkEntries(findings: Findings, { ino }: StoredInode, parent: number, entries: readonly StoredEntry[]): void {
  const { geometry } = findings;
  const wrong = (reason: string): void => findings.add('directory', ino, reason);
  const [own, up] = entries;
  if (own?.name !== '.' || own.ino !== ino) wrong(`its first entry is not . of inode ${ino}`);
  if (up?.name !== '..' || up.ino !== parent) wrong(`its second entry is not .. of inode ${parent}`);
  const typed = (geometry.incompat & Incompat.filetype) !== 0;
  const names: Set<string> = new Set();
  for (const entry of entries) {
    const { name, kind } = entry;
    if (names.has(name)) wrong(`${name} occurs twice`);
    names.add(name);
    if (name.includes('/') || name.includes('\0')) wrong(`${JSON.stringify(name)} is no name`);
    if (entry.ino < geometry.firstInode && entry.ino !== Ino.root)
      wrong(`${name} leads to the reserved inode ${entry.ino}`);
    else if (findings.kinds[entry.ino] === 0) wrong(`${name} leads to inode ${entry.ino}, which is not in use`);
    else if (typed && kind !== findings.kinds[entry.ino]) {
      wrong(`${name} is said to be of kind ${kind}, inode ${entry.ino} is of kind ${findings.kinds[entry.ino]}`);
    }
    findings.found[entry.ino]++;
  }
}

function checkLinks(findings: Findings, reached: Uint8Array): void {
  const { geometry, kinds, links, found, volume } = findings;
  const orphanFile = u32(volume.superblock, SB.s_orphan_file_inum);
  for (let ino = 1; ino <= geometry.inodes; ino++) {
    if (kinds[ino] === 0 || (ino < geometry.firstInode && ino !== Ino.root) || ino === orphanFile) continue;
    if (kinds[ino] === FileKind.directory && reached[ino] === 0) findings.add('inode', ino, 'no directory leads to it');
    else if (kinds[ino] === FileKind.directory && links[ino] === 1 && found[ino] >= MOST_LINKS) continue;
    else if (found[ino] !== links[ino]) {
      findings.add('inode', ino, `i_links_count is ${links[ino]}, ${found[ino]} entries lead to it`);
    }
  }
}

/** Checks the file that holds orphans, if there is one. @throws FsError EUCLEAN */
export function* checkOrphanFile(findings: Findings, inode: StoredInode, blocks: readonly number[]): Task<void> {
  const { volume, geometry } = findings;
  const seed = volume.sums.inodeSeed(inode.ino, inode.record.generation);
  for (const block of blocks) {
    const bytes = yield* volume.block(block, Origin.unknown, `orphan file, block ${block}`);
    const magic = u32(bytes, geometry.blockBytes - 8);
    if (magic !== 0x0b10_ca04)
      findings.add('inode', inode.ino, `orphan file, block ${block}: ob_magic is 0x${magic.toString(16)}`);
    if (volume.sums.on && u32(bytes, geometry.blockBytes - 4) !== volume.sums.orphanBlock(seed, block, bytes)) {
      findings.add('inode', inode.ino, `orphan file, block ${block}: ob_checksum is wrong`);
    }
  }
}
