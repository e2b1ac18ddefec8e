// First 32 bits of the fractional parts of the square roots of the first 8 primes and the cube roots of the first 64.
const INITIAL: readonly number[] = firstPrimes(8).map((prime) => fraction32(Math.sqrt(prime)));
const ROUND: Int32Array = Int32Array.from(firstPrimes(64), (prime) => fraction32(Math.cbrt(prime)));

/** SHA-256 (FIPS 180-4) of a text in UTF-8, as lower-case hexadecimal. Needs nothing of the platform. */
export function sha256(text: string): string {
  const message = utf8(text);
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 0x2000_0000));
  view.setUint32(padded.length - 4, (message.length << 3) >>> 0);
  const state = Int32Array.from(INITIAL);
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) compress(state, words, view, at);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function compress(state: Int32Array, words: Int32Array, view: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const small0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const small1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    words[i] = words[i - 16] + small0 + words[i - 7] + small1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const large1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + large1 + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0;
    const large0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (large0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function rotate(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}

/** A text as UTF-8; `TextEncoder` is part of most platforms but not of the language. */
function utf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x1_0000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return Uint8Array.from(bytes);
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}

function fraction32(x: number): number {
  return ((x - Math.floor(x)) * 0x1_0000_0000) | 0;
}
