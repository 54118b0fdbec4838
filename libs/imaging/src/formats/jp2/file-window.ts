import { InputError, type InputFile } from '@halogrid/sources';

/** Bytes of a file, or of a part of one. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** Valid until the next call. Rejects with InputError if the source ends before; `what` names the bytes. */
  bytes(position: number, length: number, what: string): Promise<Buffer>;
}

/** Bytes that are read together: most headers are small. */
const windowBytes = 2 ** 12;

const cutOff = (what: string): InputError =>
  new InputError('decode', `The JPEG 2000 is cut off or damaged: ${what} is beyond the end of the file`);

/** Reads headers, each with the bytes that follow it, because the next header is often there. */
export class FileWindow implements ByteSource {
  readonly #file: InputFile;
  #start = 0;
  #window: Buffer = Buffer.alloc(0);

  constructor(file: InputFile) {
    this.#file = file;
  }

  get sizeBytes(): number {
    return this.#file.sizeBytes;
  }

  async bytes(position: number, length: number, what: string): Promise<Buffer> {
    if (position + length > this.sizeBytes) throw cutOff(what);
    const at = position - this.#start;
    if (at >= 0 && at + length <= this.#window.length) return this.#window.subarray(at, at + length);
    const most = this.sizeBytes - position;
    if (this.#file.kind === 'remote' && position + length > this.#file.head.length) {
      await this.#file.copyParts([{ start: position, end: position + Math.max(length, this.#file.gapBytes) }]);
    }
    const window = Buffer.allocUnsafe(Math.min(most, Math.max(length, windowBytes)));
    await this.#file.read(window, position);
    [this.#start, this.#window] = [position, window];
    return window.subarray(0, length);
  }
}

/** Bytes that are in memory. */
export function memorySource(all: Buffer): ByteSource {
  return {
    sizeBytes: all.length,
    async bytes(position, length, what) {
      if (position + length > all.length) throw cutOff(what);
      return all.subarray(position, position + length);
    },
  };
}
