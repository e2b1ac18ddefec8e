export { type Codecs, pureCodecs } from './codecs.js';
export { CRC16, CRC32, CRC32C, type Crc, type CrcDefinition, TableCrc } from './crc.js';
