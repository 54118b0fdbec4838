import type { PixelType, Size } from '@halogrid/geometry';
import { firstOf, readSources } from '@halogrid/jobs/planned-sources';
import type { ShardWork } from '@halogrid/jobs/shard';
import { type Format, formatOfName, formats, hasVideoExtension, usualPixels } from '@halogrid/sources';

/** What a source is by its name: what reading it costs depends on that first. `other` tells nothing by its name. */
export type SourceKind = Format | 'video' | 'other';

/** What nodes read of the sources of one kind. */
export interface SourceWork {
  /** What is decoded independently of the rest: images, or of a video its segments. */
  units: number;
  /** How often a file is opened: once an image, but for each tile of one that is read by region. */
  opens: number;
  /** Pixels that are decoded, those around tiles and those of frames that are decoded for others among them. */
  pixels: number;
  /** Encoded, where the listing tells; else as photographs have. */
  bytes: number;
}

/** What a job has to do, in the amounts that its time depends on. What an earlier job has done is no part of it. */
export interface PlanWork {
  /** Inputs that are listed and looked at, with those that are kept. */
  inputs: number;
  kinds: Partial<Record<SourceKind, SourceWork>>;
  /** Read by the first kernel, by type. */
  kernelPixels: Record<PixelType, number>;
  /**
   * For each pipeline, those of them that it does not compute, because their counts are known; empty: all compute all.
   */
  knownPixels: readonly Record<PixelType, number>[];
  /** In histograms of sources and their cells: each is computed, merged and written to a row. */
  bins: number;
  /** Pictures of some sources, and their pixels. */
  previews: number;
  previewPixels: number;
  /** What is fetched from servers. */
  remoteFiles: number;
  remoteBytes: number;
}

/** A previews's side at most. */
const previewPx = 1024;

/**
 * Side of the tiles in which TIFF files are mostly stored: whoever reads a region decodes all of those that it touches.
 */
const storedTilePx = 512;

/** Files of these kinds are decoded once a node and kept for their tiles; others are read by region. */
const decodedWhole: ReadonlySet<SourceKind> = new Set(['jpeg', 'png', 'webp']);

/** What the name of a source says that it is. */
export function kindOfSource(uri: string): SourceKind {
  const path = uri.startsWith('file:') ? uri : uri.replace(/[?#].*$/, '');
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
  /** Sources whose shards are to come. */
  readonly #waiting = new Map<number, Waiting>();

  constructor(binsOfSource: number) {
    this.#binsOfSource = binsOfSource;
  }

  /** `fileBytes` is 0 where nobody knows them, and for all frames of a video but its first. */
  addSource(index: number, uri: string, size: Waiting['size'], fileBytes: number): void {
    const kind = kindOfSource(uri);
    this.work.inputs++;
    const bytes = fileBytes || (kind === 'video' ? 0 : usualBytes(kind, size));
    this.#waiting.set(index, { kind, size, bytes, isRemote: !uri.startsWith('file:') });
  }

  addKept(index: number): void {
    this.#waiting.delete(index);
  }

  /** `stored` is what is read for a tile, halos included. */
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
    // Shards of a source follow one another, and the last is at its lower right corner.
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

  /** What is done once a source, however it is cut. */
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
