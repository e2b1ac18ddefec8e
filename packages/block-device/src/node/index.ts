export { ImageFileDevice, type ImageFileOptions } from './image-file-device.js';
