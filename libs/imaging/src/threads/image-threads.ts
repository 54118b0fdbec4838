import { Worker } from 'node:worker_threads';
import type { Rect } from '@halogrid/geometry';
import { sourceAccess, splitRow } from '@halogrid/sources';
import { LateThread, sayEnd, ThreadClient, type ThreadEnd } from '@halogrid/threads';
import type { ImageCopy, OpenImage } from '../planes/image.ts';
import type { PlaneTarget } from '../planes/plane-target.ts';
import type { ReadOptions } from '../planes/read-options.ts';
import {
  type ImageAnswer,
  type ImageOrder,
  type ImageThreadSetup,
  type OpenedImage,
  unpackImageError,
} from './image-orders.ts';
import { memoryAddress } from './native-memory.ts';

/** Rows of a Parquet file that one thread opens, before the next takes over. */
const rowsAThread = 32;

type ImageThread = ThreadClient<ImageOrder, ImageAnswer>;

/** `decoders`: the thread's share of libuv's pool, on which all threads of the process decode. */
function startThread(decoders: number): ImageThread {
  const setup: ImageThreadSetup = { access: sourceAccess() };
  // The size of the pool comes from the process. In a thread's own environment, the number only limits how many decodes
  // the thread keeps in flight.
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(decoders) };
  const worker = new Worker(new URL('./image-worker.ts', import.meta.url), { workerData: setup, env });
  const ended = (end: ThreadEnd): Error => new Error(`A thread that reads images has ended: ${sayEnd(end)}`);
  return new ThreadClient(worker, { ended, unpack: unpackImageError });
}

/**
 * Opens and decodes images on worker threads, straight into the caller's memory. Decoding itself runs on libuv's pool
 * anyway. These threads take over everything around it, 0.2 ms for each image, which is too much for a single thread if
 * more than 8 cores decode.
 */
export class ImageThreads {
  readonly #threads: LateThread<ImageOrder, ImageAnswer>[];
  #lastImage = 0;

  /** `decoders`: the threads of libuv's pool. */
  constructor(count: number, decoders: number) {
    const decodersEach = Math.max(1, Math.ceil(decoders / count));
    this.#threads = Array.from({ length: count }, () => new LateThread(() => startThread(decodersEach)));
    // Start all threads now, so that the first image does not wait for one.
    for (const thread of this.#threads) void thread.client;
  }

  /** As `openImage`. A target's bytes must stay where they are until the promise of `decode` settles. */
  async openImage(uri: string, read?: ReadOptions): Promise<OpenImage> {
    const image = ++this.#lastImage;
    // The threads take turns. Each unpacks pages of Parquet files for itself, so that rows beside each other go to one.
    const { row } = splitRow(uri);
    const turn = row ? Math.floor(row.row / rowsAThread) : image;
    const thread = this.#threads[turn % this.#threads.length]!.client;
    const { opened, inputBytes } = await thread.order({ kind: 'open', image, uri, read });
    return new DistantImage(thread, image, opened!, inputBytes);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

/** An image that is open on a thread. */
class DistantImage implements OpenImage {
  readonly format: OpenImage['format'];
  readonly width: number;
  readonly height: number;
  readonly pixel: OpenImage['pixel'];
  readonly version?: string;
  readonly captured?: OpenImage['captured'];
  readonly place: OpenImage['place'];
  readonly noData?: number;
  readonly samples: OpenImage['samples'];
  readonly isConverted?: true;
  readonly readsRegions: boolean;
  readonly copy?: ImageCopy;
  inputBytes: number;
  mended: string | undefined;
  readonly #thread: ImageThread;
  readonly #image: number;

  constructor(thread: ImageThread, image: number, opened: OpenedImage, inputBytes: number) {
    const { format, width, height, pixel, version, captured, place, readsRegions, copyBytes } = opened;
    const { noData, samples, isConverted } = opened;
    this.format = format;
    this.width = width;
    this.height = height;
    this.pixel = pixel;
    if (version !== undefined) this.version = version;
    if (captured) this.captured = captured;
    this.place = place;
    if (noData !== undefined) this.noData = noData;
    this.samples = samples;
    if (isConverted) this.isConverted = true;
    this.readsRegions = readsRegions;
    this.inputBytes = inputBytes;
    this.#thread = thread;
    this.#image = image;
    if (copyBytes) {
      this.copy = {
        bytes: (channels) => copyBytes[channels],
        write: async (path, channels) => {
          this.#take(await thread.order({ kind: 'copy', image, path, channels }));
        },
      };
    }
  }

  async decode(region: Rect, { bytes, ...target }: PlaneTarget): Promise<void> {
    const to = { ...target, address: memoryAddress(bytes), length: bytes.length };
    const order = { kind: 'decode', image: this.#image, region, to } as const;
    this.#take(await this.#thread.order(order));
    // The thread has only the address of the bytes; this line keeps them from being collected until here.
    void bytes.length;
  }

  async close(): Promise<void> {
    await this.#thread.order({ kind: 'close', image: this.#image });
  }

  #take({ inputBytes, mended }: ImageAnswer): void {
    this.inputBytes = inputBytes;
    this.mended = mended;
  }
}
