import { createInterface } from 'node:readline';
import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';
import type { PlaneTarget } from '../planes/plane-target.ts';
import { indexAgain } from './index-again.ts';
import type { SegmentRequest } from './process/decode-segment.ts';
import type { IndexLine } from './process/index-packets.ts';
import { headBytes, type VideoMessage } from './process/video-process.ts';
import type { VideoFile } from './video-file.ts';
import { endReader, type Reader, startReader } from './video-reader.ts';

/** What indexing a video gives, line by line; tried again where the process breaks down. Throws InputError. */
export const indexVideo = (file: VideoFile): AsyncGenerator<IndexLine, void, undefined> =>
  indexAgain(() => indexOnce(file));

async function* indexOnce(file: VideoFile): AsyncGenerator<IndexLine, void, undefined> {
  const reader = startReader(file, { kind: 'index' });
  try {
    for await (const text of createInterface({ input: reader.child.stdout! })) {
      const line = parseLine(text);
      if (!line) break;
      if (line.kind === 'refused') throw new InputError(line.stage, line.error);
      yield line;
    }
    const why = await reader.ended;
    if (why) throw why;
  } finally {
    endReader(reader);
  }
}

/** Undefined for a part of one, which is the last of a process that was ended. */
function parseLine(text: string): IndexLine | Extract<VideoMessage, { kind: 'refused' }> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The next thing that a decoder has to say. */
export type SegmentEvent =
  | { kind: 'frame'; position: number; width: number; height: number; pixel: PixelType }
  | Exclude<VideoMessage, { kind: 'refused' }>;

/** A segment that another process decodes. To be closed. */
export class SegmentDecoder {
  readonly #reader: Reader;
  readonly #bytes: ByteStream;
  /** Bytes of luma that were announced and not read. */
  #unread = 0;

  constructor(file: VideoFile, request: SegmentRequest) {
    this.#reader = startReader(file, { kind: 'decode', request });
    this.#bytes = new ByteStream(this.#reader.child.stdout!);
  }

  /** Rejects with InputError, and with DecoderBrokeError. The luma of a frame that was not read is passed over. */
  async next(): Promise<SegmentEvent> {
    await this.#skip();
    const head = new Float64Array(headBytes / 8);
    if (!(await this.#bytes.read(new Uint8Array(head.buffer), headBytes, headBytes))) return this.#fail();
    const [position, width, height, bytes] = head as unknown as [number, number, number, number];
    this.#unread = bytes;
    if (position >= 0) return { kind: 'frame', position, width, height, pixel: bytes > width * height ? 'u16' : 'u8' };
    const text = Buffer.alloc(bytes);
    if (!(await this.#bytes.read(text, bytes, bytes))) return this.#fail();
    this.#unread = 0;
    const message = JSON.parse(text.toString('utf8')) as VideoMessage;
    if (message.kind === 'refused') throw new InputError(message.stage, message.error);
    return message;
  }

  /** Reads the luma of the frame that `next` gave, as the bytes come, to where it is wanted. */
  async luma({ width, height, pixel }: Extract<SegmentEvent, { kind: 'frame' }>, to: PlaneTarget): Promise<void> {
    const { bytes, offset, stride } = to;
    const rowBytes = width * sampleBytes[pixel];
    const target = bytes.subarray(offset, offset + (height - 1) * stride + rowBytes);
    if (!(await this.#bytes.read(target, rowBytes, stride))) await this.#fail();
    this.#unread = 0;
  }

  /** Ends the process, whatever it does. */
  async close(): Promise<void> {
    endReader(this.#reader);
    await this.#reader.ended;
  }

  async #skip(): Promise<void> {
    while (this.#unread > 0) {
      const part = new Uint8Array(Math.min(this.#unread, 2 ** 20));
      if (!(await this.#bytes.read(part, part.length, part.length))) await this.#fail();
      this.#unread -= part.length;
    }
  }

  async #fail(): Promise<never> {
    throw (await this.#reader.ended) ?? new Error('The decoder ended early');
  }
}

/** Bytes of a pipe, put where they are wanted as they come. */
class ByteStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: NodeJS.ReadableStream) {
    this.#chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Fills rows of `width` bytes, `stride` apart, to the end of `target`; false where the stream ends before. */
  async read(target: Uint8Array, width: number, stride: number): Promise<boolean> {
    for (let at = 0, x = 0; at < target.length; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#chunks.next();
        if (done) return false;
        this.#rest = value;
      }
      const isOneRow = stride === width;
      const length = Math.min(this.#rest.length, isOneRow ? target.length - at : width - x);
      target.set(this.#rest.subarray(0, length), at);
      this.#rest = this.#rest.subarray(length);
      at += length;
      if (isOneRow) continue;
      x += length;
      if (x < width) continue;
      x = 0;
      at += stride - width;
    }
    return true;
  }
}
