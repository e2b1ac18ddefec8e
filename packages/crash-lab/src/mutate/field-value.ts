import type { ImageBytes, ImageField } from '@flashstack/vfs';

/** The number that a field holds. */
export function readField(image: ImageBytes, field: ImageField): number {
  return decodeField(image.read(field.at, field.width), field);
}

/** The bytes of a field with this value; whole numbers are taken modulo its width. */
export function encodeField(field: ImageField, value: number): Uint8Array {
  const bytes = new Uint8Array(field.width);
  if (field.encoding === 'float') {
    new DataView(bytes.buffer).setFloat64(0, value, true);
    return bytes;
  }
  let left = BigInt.asUintN(64, BigInt(value));
  for (let at = 0; at < field.width; at++) {
    bytes[field.encoding === 'big' ? field.width - 1 - at : at] = Number(left & 0xffn);
    left >>= 8n;
  }
  return bytes;
}

/** The number that these bytes of a field are. */
export function decodeField(bytes: Uint8Array, { width, encoding }: ImageField): number {
  if (encoding === 'float') return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
  let value = 0;
  for (let at = 0; at < width; at++) value = value * 256 + bytes[encoding === 'big' ? at : width - 1 - at];
  return value;
}

/** The largest value of a field. */
export function mostOf({ width, encoding }: ImageField): number {
  return encoding === 'float' ? Number.MAX_VALUE : 2 ** (8 * width) - 1;
}
