import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { InputError } from '../input-error.ts';
import { type PixelType, pixelBytes } from '../pixel-type.ts';
import type { PlaneTarget } from '../plane-target.ts';
import type { SegmentRequest } from './decode-segment.ts';
import type { IndexLine } from './index-packets.ts';
import { headBytes, type VideoMessage, type VideoOrder } from './video-process.ts';

const program = fileURLToPath(new URL('./video-process.ts', import.meta.url));

function start(order: VideoOrder): { child: ChildProcess; ended: Promise<string | undefined> } {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'] });
  let text = '';
  child.stderr!.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-4096);
  });
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    // 'close' comes after the last of the output.
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : endOf(code, signal, text)));
  });
  // It may end before it has read its order.
  child.stdin!.on('error', () => {}).end(JSON.stringify(order));
  return { child, ended };
}

function endOf(code: number | null, signal: string | null, text: string): string {
  const sentence = /^Error: (.*)$/m.exec(text)?.[1];
  return sentence ?? (signal ? `it was ended by ${signal}` : `it exited with ${code}`);
}

/** Ended by the file it was reading, and not by this machine. */
const crashSignals = /\b(SIGSEGV|SIGABRT|SIGBUS|SIGFPE|SIGILL)\b/;

function failureOf(why: string): Error {
  return crashSignals.test(why) ? new InputError('decode', `The decoder broke down: ${why}`) : new Error(why);
}

/** What indexing a video gives, line by line. Throws InputError. */
export async function* indexVideo(path: string): AsyncGenerator<IndexLine, void, undefined> {
  const { child, ended } = start({ kind: 'index', path });
  try {
    for await (const text of createInterface({ input: child.stdout! })) {
      const line = JSON.parse(text) as IndexLine | Extract<VideoMessage, { kind: 'refused' }>;
      if (line.kind === 'refused') throw new InputError(line.stage, line.error);
      yield line;
    }
    const why = await ended;
    if (why) throw failureOf(why);
  } finally {
    child.kill('SIGKILL');
  }
}

/** The next thing that a decoder has to say. */
export type SegmentEvent =
  | { kind: 'frame'; position: number; width: number; height: number; pixel: PixelType }
  | Exclude<VideoMessage, { kind: 'refused' }>;

/** A segment that another process decodes. To be closed. */
export class SegmentDecoder {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string | undefined>;
  readonly #bytes: ByteStream;
  /** Bytes of luma that were announced and not read. */
  #unread = 0;

  constructor(path: string, request: SegmentRequest) {
    const { child, ended } = start({ kind: 'decode', path, request });
    this.#child = child;
    this.#ended = ended;
    this.#bytes = new ByteStream(child.stdout!);
  }

  /** Rejects with InputError. The luma of a frame that was not read is passed over. */
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
    const rowBytes = width * pixelBytes[pixel];
    const target = bytes.subarray(offset, offset + (height - 1) * stride + rowBytes);
    if (!(await this.#bytes.read(target, rowBytes, stride))) await this.#fail();
    this.#unread = 0;
  }

  /** Ends the process, whatever it does. */
  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async #skip(): Promise<void> {
    while (this.#unread > 0) {
      const part = new Uint8Array(Math.min(this.#unread, 2 ** 20));
      if (!(await this.#bytes.read(part, part.length, part.length))) await this.#fail();
      this.#unread -= part.length;
    }
  }

  async #fail(): Promise<never> {
    throw failureOf((await this.#ended) ?? 'The decoder ended early');
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
