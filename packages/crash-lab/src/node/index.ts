export { type CheckedFormat, type FsckVerdict, realFsck } from './real-fsck.js';
export {
  type KernelOutcome,
  type KernelPlaces,
  type KernelVolume,
  kernelOutcomes,
  kernelScript,
  kernelTask,
  missingForKernel,
  runOnKernel,
} from './real-kernel.js';
export { writeImage } from './write-image.js';
