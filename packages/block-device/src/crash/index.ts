export { BaseImage } from './base-image.js';
export { CrashDevice, type CrashDeviceOptions, type CrashLatency } from './crash-device.js';
export { CrashImages, type CrashImagesOptions, type ImageChoice } from './crash-images.js';
export type { CrashRequest } from './crash-log.js';
export type { CrashModel } from './crash-model.js';
export { IdentitySet } from './identity-set.js';
export type { OpenUnit } from './open-units.js';
export type { ImageLimits } from './sampled-images.js';
