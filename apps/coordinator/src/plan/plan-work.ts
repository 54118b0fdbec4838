import type { PixelType, Size } from '@halogrid/geometry';
import { firstOf, readSources } from '@halogrid/jobs/planned-sources';
import type { ShardWork } from '@halogrid/jobs/shard';
import { type Format, formatOfName, formats, hasVideoExtension, splitPart, usualPixels } from '@halogrid/sources';

/** The kind of a source by its name, which mostly decides what reading it costs. `other`: the name does not tell. */
export type SourceKind = Format | 'video' | 'other';

/** The reading of all sources of one kind by nodes. */
export interface SourceWork {
  /** Independently decoded units: images, or segments of videos. */
  units: number;
  /** How often files are opened: once for each image, or for each tile of an image that is read by region. */
  opens: number;
  /** Decoded pixels, including pixels around tiles, and frames that are decoded only because others need them. */
  pixels: number;
  /** Encoded bytes: from the listing or, if it does not tell, as in usual photographs. */
  bytes: number;
}

/** The work of a job, in the amounts that its time depends on, without results that are kept from an earlier job. */
export interface PlanWork {
  /** Sources that are listed and examined, kept ones included. */
  inputs: number;
  kinds: Partial<Record<SourceKind, SourceWork>>;
  /** Pixels that the first kernel reads, by type. */
  kernelPixels: Record<PixelType, number>;
  /**
   * For each pipeline, how many of these pixels it does not compute, because their counts are known; empty: all
   * pipelines compute all.
   */
  knownPixels: readonly Record<PixelType, number>[];
  /** Bins in the histograms of sources and their cells: each is computed, merged and written to a row. */
  bins: number;
  /** Previews, and their pixels. */
  previews: number;
  previewPixels: number;
  /** Files and bytes that are fetched from servers. */
  remoteFiles: number;
  remoteBytes: number;
}

/** The longest side of a preview. */
const previewPx = 1024;

/** The usual side of the tiles in TIFF files: to read a region is to decode all tiles that it touches. */
const storedTilePx = 512;

/** A node decodes a file of these kinds once, and keeps it for all its tiles; other files are read by region. */
const decodedWhole: ReadonlySet<SourceKind> = new Set(['jpeg', 'png', 'webp', 'gif', 'avif']);

/** The kind of a source, by its name. */
export function kindOfSource(uri: string): SourceKind {
  const path = uri.startsWith('file:') || splitPart(uri)[1] !== '' ? uri : uri.replace(/[?#].*$/, '');
  return formatOfName(path) ?? (hasVideoExtension(path) ? 'video' : 'other');
}

interface Waiting {
  kind: SourceKind;
  size: Size & { pixel?: PixelType };
  bytes: number;
  isRemote: boolean;
}

/** Adds up the work of the steps of a plan. */
export class WorkCounter {
  readonly work: PlanWork = {
    inputs: 0,
    kinds: {},
    kernelPixels: { u8: 0, u16: 0 },
    knownPixels: [],
    bins: 0,
    previews: 0,
    previewPixels: 0,
    remoteFiles: 0,
    remoteBytes: 0,
  };
  readonly #binsOfSource: number;
  /** Sources whose shards have not come yet, by index. */
  readonly #waiting = new Map<number, Waiting>();

  constructor(binsOfSource: number) {
    this.#binsOfSource = binsOfSource;
  }

  /** `fileBytes` is 0 if unknown, and for all frames of a video except the first. */
  addSource(index: number, uri: string, size: Waiting['size'], fileBytes: number): void {
    const kind = kindOfSource(uri);
    this.work.inputs++;
    const bytes = fileBytes || (kind === 'video' ? 0 : usualBytes(kind, size));
    this.#waiting.set(index, { kind, size, bytes, isRemote: !uri.startsWith('file:') });
  }

  addKept(index: number): void {
    this.#waiting.delete(index);
  }

  /** `stored` is the size of the area that is read for a tile, halos included. */
  addTile({ sources, size, rect }: Extract<ShardWork, { kind: 'tile' }>, stored: Size): void {
    const index = firstOf(sources);
    const found = this.#waiting.get(index);
    if (!found) return;
    const { kind } = found;
    const isFirst = rect.x === 0 && rect.y === 0;
    const work = this.#of(kind);
    if (!decodedWhole.has(kind)) {
      work.units++;
      work.opens++;
      work.pixels += kind === 'pnm' ? area(stored) : storedTiles(stored, size);
    } else if (isFirst) {
      work.units++;
      work.opens++;
      work.pixels += area(size);
    }
    if (isFirst) this.#addFile(sources.hasPreviews, found);
    this.work.kernelPixels[found.size.pixel ?? 'u8'] += area(stored);
    // The tiles of a source are consecutive, and the last one is at its lower right corner.
    if (rect.x + rect.width === size.width && rect.y + rect.height === size.height) this.#waiting.delete(index);
  }

  /** `areKnown` says by pipeline whether the counts of the frames are known. */
  addFrames({ sources, segment }: Extract<ShardWork, { kind: 'frames' }>, areKnown: readonly boolean[] = []): void {
    if (areKnown.includes(true) && this.work.knownPixels.length === 0) {
      this.work.knownPixels = areKnown.map(() => ({ u8: 0, u16: 0 }));
    }
    let largest = 0;
    for (const { index, preview = false } of readSources(sources)) {
      const found = this.#waiting.get(index);
      if (!found) continue;
      this.#waiting.delete(index);
      this.#addFile(preview, found);
      const pixels = area(found.size);
      largest = Math.max(largest, pixels);
      const pixel = found.size.pixel ?? 'u8';
      this.work.kernelPixels[pixel] += pixels;
      for (const [i, isKnown] of areKnown.entries()) if (isKnown) this.work.knownPixels[i]![pixel] += pixels;
      if (segment) continue;
      const work = this.#of(found.kind);
      work.units++;
      work.opens++;
      work.pixels += pixels;
    }
    if (!segment) return;
    const work = this.#of('video');
    work.units++;
    work.opens++;
    work.pixels += largest * Math.max(sources.count, segment.end - segment.packet);
  }

  /** Adds the work that a source takes once, in one piece or many. */
  #addFile(preview: boolean, { kind, size, bytes, isRemote }: Waiting): void {
    const { work } = this;
    this.#of(kind).bytes += bytes;
    work.bins += this.#binsOfSource;
    if (isRemote) {
      work.remoteFiles++;
      // Planning reads a video as well.
      work.remoteBytes += kind === 'video' ? 2 * bytes : bytes;
    }
    if (!preview) return;
    work.previews++;
    const scale = Math.min(1, previewPx / Math.max(size.width, size.height));
    work.previewPixels += area(size) * scale ** 2;
  }

  #of(kind: SourceKind): SourceWork {
    this.work.kinds[kind] ??= { units: 0, opens: 0, pixels: 0, bytes: 0 };
    return this.work.kinds[kind];
  }
}

const area = ({ width, height }: Size): number => width * height;

const storedTiles = ({ width, height }: Size, image: Size): number =>
  Math.min(width + storedTilePx, Math.max(image.width, width)) *
  Math.min(height + storedTilePx, Math.max(image.height, height));

function usualBytes(kind: SourceKind, size: Size): number {
  return kind in formats ? area(size) / formats[kind as Format].usualPixelsPerByte : area(size) / usualPixels('', 1);
}
