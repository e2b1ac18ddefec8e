export { type ConvertFileOptions, convertFile } from './convert-file.js';
export { fileInfo, openTrace } from './open-trace.js';
