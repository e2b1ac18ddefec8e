import type { BlockDevice } from '@flashstack/block-device';
import {
  Ext4,
  FilePieces,
  fsck,
  type GroupSummary,
  mkfs,
  needsRecovery,
  readAttributes,
  readDevice,
  readEntries,
  readJournal,
  readTarget,
  recover,
  type StoredInode,
  summaryOf,
  Volume,
  visibleAttributes,
} from '@flashstack/ext4-jbd2';
import { InputError, type ParameterValues, type Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { bytesOf, textOf } from './byte-text.js';
import type { Facts, ImageKind, Recognised, Wording } from './kinds.js';
import type { Entry, NodeStatus, Pieces, Tree } from './tree.js';

const ROOT = 2;
/** Where the superblock lies, and what is read of it to recognise it. */
const SUPERBLOCK = 1024;
const MAGIC = 0xef53;
const INCOMPAT_64BIT = 0x80;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** ext4 in image files. */
export const ext4Image: ImageKind = {
  name: 'ext4',
  summary: 'ext4 with a journal, as mke2fs makes it',
  options: [
    { name: 'label', type: 'string', default: '', help: 'Label, at most 16 bytes.' },
    { name: 'uuid', type: 'string', default: '', help: 'UUID; default: a random one.' },
    { name: 'hashSeed', type: 'string', default: '', help: 'UUID that seeds the hashes of names; default: random.' },
    {
      name: 'bytesPerInode',
      type: 'integer',
      unit: 'bytes',
      default: 0,
      min: 0,
      help: 'Space for which an inode is made; 0: as mke2fs.',
    },
    {
      name: 'journalBlocks',
      type: 'integer',
      unit: 'blocks',
      default: 0,
      min: 0,
      help: 'Blocks of 4 KiB of the journal; 0: by size, as mke2fs.',
    },
    {
      name: 'reservedPercent',
      type: 'number',
      unit: '%',
      default: 5,
      min: 0,
      max: 50,
      help: 'Share of blocks that only root may use.',
    },
  ],
  recognise,
  *make(device, options, timeSec, random) {
    yield* mkfs(device, { ...mkfsOptions(options, random), timeSec });
  },
  open: (device, environment) => new Ext4(device, environment),
  *recover(device) {
    const volume = yield* Volume.open(device);
    if (!needsRecovery(volume)) return null;
    const { transactions, blocks } = yield* recover(volume);
    return `journal replayed: ${transactions} transactions, ${blocks} blocks`;
  },
  *tree(device) {
    return new Ext4Tree(yield* Volume.open(device));
  },
  *check(device, nowSec, recovered) {
    const problems = yield* fsck(device, { nowSec });
    // The totals in the superblock are written at unmount only; a mount counts them anew.
    const stale = ({ structure, reason }: (typeof problems)[number]): boolean =>
      recovered && structure === 'superblock' && /^s_free_(blocks|inodes)_count /.test(reason);
    return problems
      .filter((problem) => !stale(problem))
      .map(({ structure, place, reason }) => `${structure}${structure === 'superblock' ? '' : ` ${place}`}: ${reason}`);
  },
  describe,
  journal,
};

function recognise(head: Uint8Array): Recognised | null {
  if (head.length < SUPERBLOCK + 1024) return null;
  const view = new DataView(head.buffer, head.byteOffset + SUPERBLOCK, 1024);
  if (view.getUint16(0x38, true) !== MAGIC) return null;
  const wide = (view.getUint32(0x60, true) & INCOMPAT_64BIT) !== 0;
  const blocks = view.getUint32(4, true) + (wide ? view.getUint32(0x150, true) * 2 ** 32 : 0);
  const blockBytes = 1024 * 2 ** view.getUint32(0x18, true);
  return { bytes: blocks * blockBytes, blockBytes };
}

function mkfsOptions(
  values: ParameterValues,
  random: (bytes: number) => Uint8Array,
): Omit<Parameters<typeof mkfs>[1], 'timeSec'> {
  const { label, bytesPerInode, journalBlocks, reservedPercent } = values as Record<string, never>;
  return {
    uuid: uuidOf('uuid', values.uuid as string, random),
    hashSeed: uuidOf('hashSeed', values.hashSeed as string, random),
    label: bytesOf(label),
    reservedPercent,
    ...(bytesPerInode === 0 ? {} : { bytesPerInode }),
    ...(journalBlocks === 0 ? {} : { journalBlocks }),
  };
}

function uuidOf(key: string, text: string, random: (bytes: number) => Uint8Array): Uint8Array {
  if (text === '') return random(16);
  if (!UUID.test(text)) {
    const expected = 'expected a UUID such as 6f3a1c52-0b7d-4e8a-9c11-2a5d7e9f0c34';
    throw new InputError('ERR_IMAGE_OPTION', `-O ${key} is "${text}", ${expected}.`, key);
  }
  return Uint8Array.from(Buffer.from(text.replaceAll('-', ''), 'hex'));
}

/** An ext4 volume as a tree. */
class Ext4Tree implements Tree {
  readonly root = ROOT;
  private readonly volume: Volume;

  constructor(volume: Volume) {
    this.volume = volume;
  }

  *status(ino: number): Task<NodeStatus> {
    const inode = yield* this.volume.inode(ino);
    const { record } = inode;
    const kind = record.mode >>> 12;
    const isDevice = kind === FileKind.blockDevice || kind === FileKind.characterDevice;
    return {
      ino,
      kind,
      mode: record.mode & 0o7777,
      links: record.links,
      uid: record.uid,
      gid: record.gid,
      size: record.size,
      sectors: record.sectors,
      device: isDevice ? readDevice(inode) : 0,
      accessed: [record.accessedSec, record.accessedNsec],
      modified: [record.modifiedSec, record.modifiedNsec],
      changed: [record.changedSec, record.changedNsec],
      born: record.extraBytes >= 24 ? [record.bornSec, record.bornNsec] : null,
    };
  }

  *entries(ino: number): Task<Entry[]> {
    const entries = yield* readEntries(this.volume, yield* this.volume.inode(ino));
    return entries.filter(({ name }) => name !== '.' && name !== '..');
  }

  *target(ino: number): Task<string> {
    return yield* readTarget(this.volume, yield* this.volume.inode(ino));
  }

  *attributes(ino: number): Task<ReadonlyMap<string, Uint8Array>> {
    return visibleAttributes(yield* readAttributes(this.volume, yield* this.volume.inode(ino)));
  }

  *pieces(ino: number): Task<Pieces> {
    const inode: StoredInode = yield* this.volume.inode(ino);
    return yield* FilePieces.of(this.volume, inode);
  }
}

function* describe(device: BlockDevice, wording: Wording): Task<Facts> {
  const volume = yield* Volume.open(device);
  const summary = summaryOf(volume);
  const { count, bytes, time } = wording;
  const { blockBytes, blocks, freeBlocks, reservedBlocks, inodes, freeInodes, inodeBytes, groups } = summary;
  const size = (number: number): string => `${count(number)} (${bytes(number * blockBytes)})`;
  const waits = needsRecovery(volume) ? ', its journal has to be replayed' : '';
  return {
    rows: [
      ['file system', `ext4, ${bytes(blocks * blockBytes)}`],
      ['label', textOf(summary.label) || 'none'],
      ['uuid', summary.uuid],
      ['features', summary.features.join(' ')],
      ['state', `${summary.state}${waits}`],
      ['made', time(summary.madeSec)],
      ['mounted', `${time(summary.mountedSec)}; mounts so far: ${count(summary.mounts)}`],
      ['written', time(summary.writtenSec)],
      ['blocks', `${size(blocks)} of ${count(blockBytes)} bytes`],
      ['free', size(freeBlocks)],
      ['reserved', size(reservedBlocks)],
      ['inodes', `${count(inodes)} of ${count(inodeBytes)} bytes`],
      ['free inodes', count(freeInodes)],
      ['groups', count(groups.length)],
    ],
    details: {
      align: 'rrrrrrrrl',
      rows: [
        ['group', 'start', 'blocks', 'free', 'free inodes', 'dirs', 'bitmaps', 'table', 'copy'],
        ...groups.map(groupRow),
      ],
    },
    json: summary,
  };
}

function groupRow(group: GroupSummary): string[] {
  return [
    ...[group.group, group.start, group.blocks, group.freeBlocks, group.freeInodes, group.usedDirs].map(String),
    `${group.blockBitmap} ${group.inodeBitmap}`,
    String(group.inodeTable),
    group.hasSuperblock ? 'superblock' : '',
  ];
}

function* journal(device: BlockDevice, { count, bytes, time }: Wording): Task<Facts> {
  const volume = yield* Volume.open(device);
  const log = yield* readJournal(volume);
  const { blockBytes, blocks, start, sequence, transactions } = log;
  const logged = transactions.reduce((sum, { homes }) => sum + homes.length, 0);
  const waiting =
    start === 0
      ? 'nothing to replay'
      : `${count(transactions.length)} transactions to replay, ${count(logged)} blocks, from block ${count(start)} on`;
  return {
    rows: [
      ['journal', `${bytes(blocks * blockBytes)}, ${count(blocks)} blocks`],
      ['features', log.features.join(' ') || 'none'],
      ['sequence', count(sequence)],
      ['log', waiting],
      ...(log.failure === '' ? [] : [['damage', log.failure] as const]),
    ],
    details: {
      align: 'rrrrrl',
      rows: [
        ['transaction', 'first block', 'blocks', 'logged', 'revoked', 'committed'],
        ...transactions.map(({ tid, start: first, end, homes, revoked, commitSec }) => [
          ...[tid, first, (end - first + blocks - 1) % (blocks - 1), homes.length, revoked.length].map(String),
          time(commitSec),
        ]),
      ],
    },
    json: log,
  };
}
