import { FileKind, FsError, type Inode } from '@flashstack/vfs';

/** Who calls: user, group, further groups. */
export interface Credentials {
  uid: number;
  gid: number;
  groups: readonly number[];
}

/** Bits of a permission question, as for `access(2)`. */
export const May = { execute: 1, write: 2, read: 4 } as const;

/** Set-user-ID, set-group-ID and sticky bits of a mode. */
export const ModeBit = { setUid: 0o4000, setGid: 0o2000, sticky: 0o1000 } as const;

/** True if the group is the caller's or one of its further groups. */
export function inGroup(who: Credentials, gid: number): boolean {
  return who.gid === gid || who.groups.includes(gid);
}

/** True if these `May` bits are all granted. Root may everything but execute what nobody may. */
export function may(who: Credentials, inode: Inode, wanted: number): boolean {
  const { mode } = inode;
  if (who.uid === 0) {
    return (wanted & May.execute) === 0 || inode.kind === FileKind.directory || (mode & 0o111) !== 0;
  }
  let granted = mode & 7;
  if (who.uid === inode.uid) granted = (mode >> 6) & 7;
  else if (inGroup(who, inode.gid)) granted = (mode >> 3) & 7;
  return (wanted & ~granted) === 0;
}

/** @throws FsError EACCES unless these `May` bits are all granted. */
export function demand(who: Credentials, inode: Inode, wanted: number, path: string): void {
  if (!may(who, inode, wanted)) throw new FsError('EACCES', path);
}

/** @throws FsError EPERM unless the caller is root or owns the file. */
export function demandOwner(who: Credentials, inode: Inode, path: string): void {
  if (who.uid !== 0 && who.uid !== inode.uid) throw new FsError('EPERM', path);
}

/** In a sticky directory only root, its owner and the file's may remove an entry. @throws FsError EPERM, EACCES */
export function demandRemoval(who: Credentials, directory: Inode, inode: Inode, path: string): void {
  demand(who, directory, May.write | May.execute, path);
  if ((directory.mode & ModeBit.sticky) === 0 || who.uid === 0) return;
  if (who.uid !== inode.uid && who.uid !== directory.uid) throw new FsError('EPERM', path);
}

/** The mode without what a write or truncation by somebody else than root takes away; the same mode: nothing. */
export function modeAfterWrite(who: Credentials, inode: Inode): number {
  if (who.uid === 0 || (inode.mode & (ModeBit.setUid | ModeBit.setGid)) === 0) return inode.mode;
  return modeAfterChown(inode);
}

/** The mode without what a change of owner takes away: set-user-ID, and set-group-ID if the group may execute. */
export function modeAfterChown(inode: Inode): number {
  if (inode.kind === FileKind.directory) return inode.mode;
  const lost = (inode.mode & 0o010) === 0 ? ModeBit.setUid : ModeBit.setUid | ModeBit.setGid;
  return inode.mode & ~lost;
}
