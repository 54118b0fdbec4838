import type { Size } from '@halogrid/geometry';
import { decodeSoundJpeg, type PlaneTarget, planesOf } from '@halogrid/imaging';
import { bandFile, bandOf, rowsOfStretches } from '@halogrid/jpeg';
import { formatOfName, giveBackBytes, InputError, isRemoteUri, takeBytes } from '@halogrid/sources';
import { limitConcurrency, poolThreads } from '@halogrid/threads';
import type { AskedFile } from '../feed/asked-files.ts';
import type { indexJpeg, JpegIndex } from '../feed/index-jpeg.ts';
import { closePlanned, openPlanned, readPlanned } from '../feed/planned-file.ts';
import { PlaneCache } from './plane-cache.ts';

/** Smaller images are soon decoded whole. */
const usualLeastPixels = 2 ** 26;
/**
 * Pixels of a band: one core decodes as many in 0.1 s. With rows above and below they take 16 MiB, which is a size of
 * the pool of bytes.
 */
const usualBandPixels = 3 * 2 ** 22;
/** If restart markers are so far apart that a band would have more, the image is not decoded in bands. */
const mostBandPixels = 2 ** 26;
/**
 * Memory for decoded bands: in gray, one row of tiles of 4096 pixels in an image 65,500 wide, or two rows in one 35,000
 * wide.
 */
const planeBytes = 320 * 2 ** 20;
/** Images that are remembered. An index is 16 MB at most, and usually some hundred kB. */
const mostKnown = 16;

/** A band may decode differently from the whole file. */
export class BandInDoubt extends Error {}

/** A decoded band. */
export interface BandPlanes {
  rows: number;
  /** Planes one after another, rows without gaps. */
  bytes: Uint8Array;
  inputBytes: number;
  /** May be called once: `bytes` must not be read afterwards. */
  giveBack(): void;
}

/** A large JPEG with restart markers: nodes decode only the rows that they need. */
export class JpegBands {
  /** A band was in doubt: the image must be decoded as a whole. */
  isInDoubt = false;
  readonly index: JpegIndex;
  /** Rows of every band but the last one. */
  readonly rows: number;
  readonly #file: AskedFile;

  constructor(file: AskedFile, index: JpegIndex, bandPixels: number) {
    this.#file = file;
    this.index = index;
    this.rows = bandRowsOf(index, bandPixels);
  }

  /** Rows of the band that begins at row `y`. */
  rowsFrom(y: number): number {
    return Math.min(this.rows, this.index.frame.height - y);
  }

  /**
   * Reads and decodes the band that begins at row `y`, on libuv's pool. Rejects with BandInDoubt if libjpeg warns, or
   * the file has changed.
   */
  async decode(y: number, channels: PlaneTarget['channels']): Promise<BandPlanes> {
    const { frame, head, stretches, sizeBytes } = this.index;
    // Excess data before a restart marker is noticed after the marker, so the rows below are read too. Chroma is
    // smoothed across rows, so colours also need the rows above.
    const step = rowsOfStretches(frame);
    const top = channels === 'rgb' ? Math.max(0, y - step) : y;
    const band = bandOf(frame, stretches, top, y + this.rows + step - top);
    const data = await this.#read(band.from, band.to, sizeBytes);
    const jpeg = bandFile(head, data, band, stretches);
    const { width, height } = band.frame;
    const planeBytes = width * height;
    const samples = planesOf(channels);
    // Without this, the garbage collector would let as much memory again pile up.
    const bytes = takeBytes(samples * planeBytes);
    if (!(await isSound(jpeg, { bytes, offset: 0, stride: width, channels, planeBytes }))) throw this.#doubt();
    const rows = this.rowsFrom(y);
    const inner = width * rows;
    // The band's own rows, moved within the buffer.
    const first = (y - top) * width;
    for (let plane = 0; plane < samples; plane++) {
      bytes.copyWithin(plane * inner, plane * planeBytes + first, plane * planeBytes + first + inner);
    }
    const giveBack = () => giveBackBytes(bytes);
    return { rows, bytes: bytes.subarray(0, samples * inner), inputBytes: data.length, giveBack };
  }

  async #read(from: number, to: number, sizeBytes: number): Promise<Uint8Array> {
    const file = await openPlanned(this.#file);
    if (!file) throw this.#doubt();
    try {
      const data = new Uint8Array(to - from);
      if (file.sizeBytes !== sizeBytes || !(await readPlanned(file, data, from))) throw this.#doubt();
      return data;
    } finally {
      await closePlanned(file);
    }
  }

  #doubt(): BandInDoubt {
    this.isInDoubt = true;
    return new BandInDoubt('A band of a JPEG is in doubt');
  }
}

function bandRowsOf({ frame }: JpegIndex, bandPixels: number): number {
  const step = rowsOfStretches(frame);
  return step * Math.max(1, Math.floor(bandPixels / (step * frame.width)));
}

async function isSound(jpeg: Uint8Array, to: PlaneTarget): Promise<boolean> {
  try {
    return await decodeSoundJpeg(jpeg, to);
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

/** The large JPEGs that a node decodes in bands. */
export class BandedJpegs {
  /** The bands, which are kept for neighbouring tiles. */
  readonly planes = new PlaneCache(planeBytes);
  /** Limits how many bands are decoded at once: each takes its memory when it begins. */
  readonly limit = limitConcurrency(poolThreads());
  readonly #index: typeof indexJpeg;
  readonly #leastPixels: number;
  readonly #bandPixels: number;
  /** By channels, file and version; the most recently used are last. */
  readonly #known = new Map<string, Promise<JpegBands | undefined>>();

  constructor(index: typeof indexJpeg, leastPixels = usualLeastPixels, bandPixels = usualBandPixels) {
    this.#index = index;
    this.#leastPixels = leastPixels;
    this.#bandPixels = bandPixels;
  }

  /**
   * Undefined for an image that is not decoded in bands; it is not read if its name or its size already shows that.
   * `version` is the current version of the source.
   */
  async open(
    file: AskedFile,
    { width, height }: Size,
    version: string,
    channels: PlaneTarget['channels'],
  ): Promise<JpegBands | undefined> {
    const mayBe = formatOfName(file.uri) === 'jpeg' && width * height >= this.#leastPixels;
    if (!mayBe || isRemoteUri(file.uri)) return undefined;
    const key = `${channels} ${file.uri} ${version}`;
    const bands = this.#known.get(key) ?? this.#open(file, channels);
    this.#known.delete(key);
    this.#known.set(key, bands);
    bands.catch(() => this.#known.delete(key));
    if (this.#known.size > mostKnown) this.#known.delete(this.#known.keys().next().value!);
    return bands;
  }

  async #open(file: AskedFile, channels: PlaneTarget['channels']): Promise<JpegBands | undefined> {
    const index = await this.#index(file, this.#leastPixels);
    if (!index) return undefined;
    // Colours take three times the memory, and as much again while they are decoded.
    const bands = new JpegBands(file, index, channels === 'gray' ? this.#bandPixels : this.#bandPixels / 3);
    return bands.rows * index.frame.width <= mostBandPixels ? bands : undefined;
  }
}
