import { InputError } from '../input-error.ts';

/** An image in memory, which is read as a file is. */
export class HeldFile {
  readonly kind = 'held';
  readonly gapBytes = Number.POSITIVE_INFINITY;
  readonly sizeBytes: number;
  readonly bytesRead: number;
  /** All of it. */
  readonly head: Buffer;
  /** The version of the file that it is from. */
  readonly version: string;
  readonly hasSureVersion: boolean;

  constructor(bytes: Buffer, version: string, hasSureVersion: boolean) {
    this.head = bytes;
    this.sizeBytes = bytes.length;
    this.bytesRead = bytes.length;
    this.version = version;
    this.hasSureVersion = hasSureVersion;
  }

  /** As LocalFile.read. */
  async read(into: Uint8Array, position: number): Promise<void> {
    if (position + into.length > this.sizeBytes)
      throw new InputError('decode', `The file is truncated: it ends at byte ${this.sizeBytes}, inside the image`);
    into.set(this.head.subarray(position, position + into.length));
  }

  async readAll(): Promise<Buffer> {
    return this.head;
  }

  async whole(): Promise<Buffer> {
    return this.head;
  }

  async close(): Promise<void> {}
}
