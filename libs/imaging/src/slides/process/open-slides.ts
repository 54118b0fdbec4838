import type { Rect } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources/input-error';
import type { OpenSlide } from './openslide.ts';
import { type Colour, readBackground } from './over-background.ts';
import { blockPx, readBlocks } from './read-blocks.ts';
import type { SlideFacts, SlideFile } from './slide-protocol.ts';

/** Slides that stay open: opening one may read thousands of places of its tiles. */
const mostOpen = 4;
/** More than any scanner writes. */
const mostLevels = 64;

type Handle = NonNullable<ReturnType<OpenSlide['open']>>;

interface Level {
  width: number;
  height: number;
  /** How many pixels of level 0 a pixel is wide. */
  downsample: number;
}

interface Slide {
  handle: Handle;
  levels: Level[];
  background: Colour;
}

/** Slides that OpenSlide has opened, the last used one last. Methods throw InputError. */
export class OpenSlides {
  readonly openslide: OpenSlide;
  readonly #open = new Map<string, Slide>();
  readonly #block = new Uint32Array(blockPx * blockPx);

  constructor(openslide: OpenSlide) {
    this.openslide = openslide;
  }

  facts(file: SlideFile): SlideFacts {
    const { handle, levels } = this.#slide(file);
    const microns = Number(this.openslide.property(handle, 'openslide.mpp-x') ?? Number.NaN);
    return {
      levels: levels.map(({ width, height }) => ({ width, height })),
      microns: Number.isFinite(microns) && microns > 0 ? microns : undefined,
      by: this.openslide.version,
    };
  }

  /** Red, green and blue of a region of a level. */
  read(file: SlideFile, level: number, region: Rect): Uint8Array {
    const { handle, levels, background } = this.#slide(file);
    const size = levels[level];
    if (!size || region.x + region.width > size.width || region.y + region.height > size.height)
      throw new InputError('decode', 'The slide changed while it was read');
    const at = (place: number): number => Math.round(place * size.downsample);
    return readBlocks(region, size, background, ({ x, y, width, height }) => {
      this.openslide.read(handle, this.#block, at(x), at(y), level, width, height);
      this.#check(handle);
      return this.#block;
    });
  }

  #slide(file: SlideFile): Slide {
    const key = JSON.stringify([file.path, file.version]);
    const slide = this.#open.get(key) ?? this.#load(file.path);
    this.#open.delete(key);
    this.#open.set(key, slide);
    for (const [oldest, { handle }] of this.#open) {
      if (this.#open.size <= mostOpen) break;
      this.openslide.close(handle);
      this.#open.delete(oldest);
    }
    return slide;
  }

  #load(path: string): Slide {
    const handle = this.openslide.open(path);
    if (!handle)
      throw new InputError('decode', `OpenSlide ${this.openslide.version} does not know the file as a slide`);
    try {
      this.#check(handle);
      const count = this.openslide.levels(handle);
      if (count < 1 || count > mostLevels) throw new InputError('decode', `The slide has ${count} levels`);
      const levels = Array.from({ length: count }, (_, level) => this.#level(handle, level));
      return {
        handle,
        levels,
        background: readBackground(this.openslide.property(handle, 'openslide.background-color')),
      };
    } catch (error) {
      this.openslide.close(handle);
      throw error;
    }
  }

  #level(handle: Handle, level: number): Level {
    const [across, down] = [new BigInt64Array(1), new BigInt64Array(1)];
    this.openslide.dimensions(handle, level, across, down);
    const downsample = this.openslide.downsample(handle, level);
    const [width, height] = [Number(across[0]), Number(down[0])];
    if (width >= 1 && height >= 1 && downsample >= 1 && Number.isFinite(downsample))
      return { width, height, downsample };
    throw new InputError('decode', `The slide's level ${level} has ${width}x${height} pixels`);
  }

  /** An error of a slide stays: it gives no more pixels. */
  #check(handle: Handle): void {
    const error = this.openslide.error(handle);
    if (error === null) return;
    throw new InputError('decode', `OpenSlide ${this.openslide.version} cannot read the slide: ${error}`);
  }
}
