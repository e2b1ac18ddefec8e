export { type CheckedFormat, type FsckVerdict, realFsck } from './real-fsck.js';
export { writeImage } from './write-image.js';
