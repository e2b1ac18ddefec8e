export { type ConvertFileOptions, convertFile } from './convert-file.js';
export { fileInfo, openStrace, openTrace } from './open-trace.js';
