import { addBits, type BitPlane, createBitPlane, type PixelType, sampleBytes } from '@halogrid/geometry';
import type { Place } from '@halogrid/imaging';
import type { CopyRect, SharedItem, SharedPlan } from '@halogrid/kernels';
import type { InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { Budget } from '@halogrid/threads';

/** A decoded image, or a part of one: planes one after another, rows without gaps. */
export interface DecodedPlanes {
  kind: 'planes';
  width: number;
  height: number;
  pixel: PixelType;
  bytes: Uint8Array;
  /** The pixels without a value, of each band if several are read; absent if there are none. */
  noData?: readonly BitPlane[] | undefined;
  captured?: CaptureTime;
  place?: Place | undefined;
  /** A sentence that says what was removed from its file. */
  mended?: string;
  /** Called once, when nothing reads `bytes` any more. */
  giveBack?(): void;
}

/** Copies parts of planes to their places in staging memory. */
export function copyPlanes(
  { width, height, pixel, bytes: pixels }: DecodedPlanes,
  bytes: Uint8Array,
  copies: readonly CopyRect[],
  { offset, stride, planeBytes }: SharedItem,
): void {
  const unit = sampleBytes[pixel];
  const planes = pixels.length / (width * height * unit);
  for (let plane = 0; plane < planes; plane++) {
    for (const { from, to } of copies) {
      for (let row = 0; row < from.height; row++) {
        const at = ((plane * height + from.y + row) * width + from.x) * unit;
        const target = offset + plane * planeBytes + (to.y + row) * stride + to.x * unit;
        bytes.set(pixels.subarray(at, at + from.width * unit), target);
      }
    }
  }
}

/** The part of an image's plane of bits that is stored for a tile. */
export function copyBits(plane: BitPlane, { stored, copies }: Pick<SharedPlan, 'stored' | 'copies'>): BitPlane {
  const part = createBitPlane(stored);
  for (const { from, to } of copies) addBits(plane, from, part, to);
  return part;
}

/** Facts about an image after it was opened once. */
export type ImageContent =
  /** It is decoded as a whole. */
  | DecodedPlanes
  /** It is read by region, so there is nothing to keep. */
  | { kind: 'regions' }
  /**
   * It is too large to be kept, and cannot be read by region: a copy is read instead, in which several bands lie one
   * below another. `noData`: the pixel that
   * stands for no value in the copy.
   */
  | { kind: 'large'; captured?: CaptureTime; place?: Place | undefined; noData?: number | undefined }
  /** It cannot be decoded. */
  | { kind: 'broken'; error: InputError };

/** Waits until `bytes` more bytes fit into the memory for planes. */
export type Reserve = (bytes: number) => Promise<void>;

/** Loads an image; memory for planes is allocated after `reserve` has resolved. */
export type LoadImage = (reserve: Reserve) => Promise<ImageContent>;

export interface Borrowed {
  content: ImageContent;
  /** Called once, when `content` is not used any more. */
  release(): void;
}

interface Entry {
  content: Promise<ImageContent>;
  bytes: number;
  /** Borrowers; it stays while there are any. */
  pins: number;
}

/** Entries without planes weigh nothing, so their number is bounded too. */
const maxEntries = 1024;

/**
 * Decoded images that cannot be read by region, so that their tiles decode them once. Concurrent borrowers of an image
 * share one load. Planes that nobody borrows stay, the least recently used evicted first, while all fit the budget; an
 * image above the budget is decoded while no other is held, so there is at most one such image.
 */
export class PlaneCache {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #budget: Budget;

  constructor(limitBytes: number) {
    this.#budget = new Budget(limitBytes, (bytes) => this.#evict(bytes));
  }

  /** The most bytes of planes that the cache holds, except for a single image that has more. */
  get limitBytes(): number {
    return this.#budget.limit;
  }

  /** Bytes of the planes that are held or being decoded. */
  get usedBytes(): number {
    return this.#budget.used;
  }

  /** The image known as `key`; loads it unless it is there. Rejects as `load` does. */
  async borrow(key: string, load: LoadImage): Promise<Borrowed> {
    const entry = this.#entries.get(key) ?? this.#load(key, load);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.pins++;
    const release = () => {
      entry.pins--;
      this.#budget.retry();
    };
    try {
      return { content: await entry.content, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #load(key: string, load: LoadImage): Entry {
    const entry: Entry = { content: undefined as never, bytes: 0, pins: 0 };
    const reserve = async (bytes: number) => {
      await this.#budget.acquire(bytes);
      entry.bytes += bytes;
    };
    const giveBack = () => {
      this.#budget.release(entry.bytes);
      entry.bytes = 0;
    };
    entry.content = load(reserve).then(
      (content) => {
        if (content.kind !== 'planes') giveBack();
        return content;
      },
      (error: unknown) => {
        giveBack();
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
        throw error;
      },
    );
    if (this.#entries.size >= maxEntries) this.#evict(0);
    return entry;
  }

  /** Evicts entries without borrowers until `wanted` more bytes fit and there is room for an entry. */
  #evict(wanted: number): void {
    for (const [key, entry] of this.#entries) {
      const isFull = this.#budget.used + wanted > this.#budget.limit || this.#entries.size >= maxEntries;
      if (!isFull) return;
      if (entry.pins > 0) continue;
      this.#entries.delete(key);
      this.#budget.release(entry.bytes);
      void entry.content.then((content) => content.kind === 'planes' && content.giveBack?.());
    }
  }
}
