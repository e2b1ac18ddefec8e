/** CRC-32, most significant bit first, as only version 1 of the journal's checksums has it. */
const table: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let register = byte << 24;
  for (let bit = 0; bit < 8; bit++) register = register < 0 ? (register << 1) ^ 0x04c1_1db7 : register << 1;
  return register >>> 0;
});

/** The register after a block. */
export function crc32be(register: number, bytes: Uint8Array): number {
  let crc = register;
  for (let at = 0; at < bytes.length; at++) crc = (crc << 8) ^ table[((crc >>> 24) ^ bytes[at]) & 0xff];
  return crc >>> 0;
}
