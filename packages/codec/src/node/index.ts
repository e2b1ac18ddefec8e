export { NativeCrc32, type NativeCrc32Function, nodeCodecs } from './node-codecs.js';
