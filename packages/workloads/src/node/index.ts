export { type ConvertFileOptions, convertFile } from './convert-file.js';
export { fileInfo, openListing, openStrace, openTrace } from './open-trace.js';
