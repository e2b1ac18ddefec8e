const ZERO = 48;
const SPACE = 32;

/** A growing buffer of bytes with what writers of traces need: text, numbers, binary fields, all without strings. */
export class ByteSink {
  /** Bytes in the buffer. */
  length = 0;
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(65536);
  private view: DataView = new DataView(this.bytes.buffer);

  /** One byte. */
  byte(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }

  /** Text of ASCII characters. */
  ascii(text: string): void {
    this.room(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[this.length + i] = text.charCodeAt(i);
    this.length += text.length;
  }

  /** A whole number ≥ 0, in decimal. */
  uint(value: number): void {
    this.padded(value, digitsOf(value));
  }

  /** A whole number ≥ 0 in decimal, with zeroes in front up to `digits`, of which there must be enough. */
  padded(value: number, digits: number): void {
    this.room(digits);
    let rest = value;
    for (let i = digits - 1; i >= 0; i--) {
      const next = Math.floor(rest / 10);
      this.bytes[this.length + i] = ZERO + rest - next * 10;
      rest = next;
    }
    this.length += digits;
  }

  /** A whole number ≥ 0 in decimal, with spaces in front up to `width` characters. */
  spaced(value: number, width: number): void {
    const digits = digitsOf(value);
    for (let at = digits; at < width; at++) this.byte(SPACE);
    this.padded(value, digits);
  }

  /** `value` / 10^`digits` in decimal with all its digits after the point. */
  fixed(value: number, digits: number): void {
    const one = 10 ** digits;
    this.uint(Math.floor(value / one));
    this.byte(46);
    this.padded(value % one, digits);
  }

  /** Two bytes, little-endian. */
  u16(value: number): void {
    this.room(2);
    this.view.setUint16(this.length, value, true);
    this.length += 2;
  }

  /** Four bytes, little-endian. */
  u32(value: number): void {
    this.room(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** Eight bytes, little-endian, of a whole number below 2^53. */
  u64(value: number): void {
    this.u32(value % 2 ** 32);
    this.u32(Math.floor(value / 2 ** 32));
  }

  /** Eight bytes, big-endian, of a whole number below 2^53. */
  u64BigEndian(value: number): void {
    this.room(8);
    this.view.setUint32(this.length, Math.floor(value / 2 ** 32));
    this.view.setUint32(this.length + 4, value % 2 ** 32);
    this.length += 8;
  }

  /** Takes all bytes out; the sink is empty then. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }

  private room(bytes: number): void {
    const need = this.length + bytes;
    if (need <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(need, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let limit = 10; limit <= value; limit *= 10) digits++;
  return digits;
}
