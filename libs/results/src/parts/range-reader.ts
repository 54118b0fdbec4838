import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { ColumnError } from '../features/column-error.ts';
import type { FilePlace } from './shard-place.ts';

/** How many bytes are read at once, unless more are needed together. */
const pieceBytes = 2 ** 20;

/** Reads the bytes of a shard in a file from front to end, piece by piece, and compares their checksum at the end. */
export class RangeReader {
  readonly #file: FileHandle;
  readonly #place: FilePlace;
  /** The bytes that were read and not taken yet, and where they end in the file. */
  #bytes: Buffer = Buffer.alloc(0);
  #at: number;
  #checksum = 0;

  constructor(file: FileHandle, place: FilePlace) {
    this.#file = file;
    this.#place = place;
    this.#at = place.start;
  }

  /** The next `length` bytes, or fewer at the end, without taking them. */
  async peek(length: number): Promise<Uint8Array> {
    if (this.#bytes.length < length) await this.#read(length);
    return this.#bytes.subarray(0, length);
  }

  /** Takes the next `length` bytes. They are not overwritten later. Rejects with ColumnError if there are fewer. */
  async take(length: number): Promise<Uint8Array> {
    const bytes = await this.peek(length);
    if (bytes.length < length) throw new ColumnError('ends early');
    this.#bytes = this.#bytes.subarray(length);
    return bytes;
  }

  /** Skips the next `length` bytes. Rejects as `take` does. */
  async skip(length: number): Promise<void> {
    for (let left = length; left > 0; ) {
      const some = Math.min(left, Math.max(this.#bytes.length, Math.min(left, pieceBytes)));
      await this.take(some);
      left -= some;
    }
  }

  /**
   * To be called when all bytes should be taken. Rejects with ColumnError if bytes are left, or the checksum does not
   * match.
   */
  async end(): Promise<void> {
    const { start, length, checksum } = this.#place;
    const left = this.#bytes.length + start + length - this.#at;
    if (left > 0) throw new ColumnError(`has ${left} bytes behind its rows`);
    if (this.#checksum !== checksum) throw new ColumnError('has another checksum');
  }

  async #read(length: number): Promise<void> {
    const { start, length: all } = this.#place;
    const wanted = Math.min(Math.max(length - this.#bytes.length, pieceBytes), start + all - this.#at);
    const piece = Buffer.allocUnsafeSlow(this.#bytes.length + wanted);
    this.#bytes.copy(piece);
    for (let read = this.#bytes.length; read < piece.length; ) {
      const { bytesRead } = await this.#file.read(piece, read, piece.length - read, this.#at);
      if (bytesRead === 0) throw new ColumnError('ends early');
      this.#checksum = crc32(piece.subarray(read, read + bytesRead), this.#checksum);
      this.#at += bytesRead;
      read += bytesRead;
    }
    this.#bytes = piece;
  }
}
