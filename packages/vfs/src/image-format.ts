/** What the number in a field means, and so what it may be changed into. */
export type FieldKind = 'magic' | 'pointer' | 'inode' | 'count' | 'length' | 'flags' | 'checksum' | 'number';

/** A number in an image. */
export interface ImageField {
  /** As the documentation of the format calls it. */
  readonly name: string;
  /** First byte, from the start of the image. */
  readonly at: number;
  /** Bytes. */
  readonly width: 1 | 2 | 4 | 8;
  /** `pointer`: a block of the file system; `inode`: an inode's number. */
  readonly kind: FieldKind;
  /** How the bytes are a number; default `little`. `float`: binary64, little-endian. */
  readonly encoding?: 'little' | 'big' | 'float';
}

/** Something in an image that has a checksum of its own, or could have one. */
export interface ImageStructure {
  /** Its sort and which one it is, such as `inode 12`: the first word is the sort. */
  readonly name: string;
  /** First byte, from the start of the image. */
  readonly at: number;
  /** Bytes. */
  readonly length: number;
  readonly fields: readonly ImageField[];
}

/** Bytes of a volume that is not mounted. */
export interface ImageBytes {
  readonly length: number;
  /** A copy. @throws RangeError beyond the end */
  read(at: number, length: number): Uint8Array;
  /** @throws RangeError beyond the end */
  write(at: number, bytes: Uint8Array): void;
}

/** What lies where in one image. */
export interface ImageMap {
  /** Bytes of a block of the file system. */
  readonly blockBytes: number;
  readonly structures: readonly ImageStructure[];
  /**
   * Makes the checksum of a structure right for what it holds now, and those that include it (of the bitmap's in its group
   * descriptor, say). Whatever the image holds, it neither throws nor writes outside it.
   */
  fixChecksums(image: ImageBytes, structure: ImageStructure): void;
}

/** Knowledge of an on-disk format, for tools that damage images on purpose. */
export interface ImageFormat {
  /** The structures of a sound image. @throws FsError for an image that is none of this format */
  map(image: ImageBytes): ImageMap;
}
