import { type ItemResult, laneBytes, type PlaneItem } from './plane-item.ts';

/** What a program leaves behind: dense results, histograms, or both. */
export type GpuOutput = 'map' | 'histogram' | 'both';

/** The buffers of one batch; `items` is uniform, the others are storage. `maps` may be any where no map is wanted. */
export interface GpuBatchBuffers {
  /** The staged planes. */
  planes: GPUBuffer;
  /** The table that `packItems` makes; `itemTableBytes` large. */
  items: GPUBuffer;
  /** `bins` counts of 4 bytes an item, zero at first. */
  histograms: GPUBuffer;
  /** Dense results at the offsets that `placeMaps` gives. */
  maps: GPUBuffer;
}

/** A pipeline of kernels compiled for one GPU device. */
export interface GpuProgram {
  /** Bytes of histogram an item. */
  readonly histogramBytes: number;
  /** Records the batch. Buffers may be reused once the pass has run. */
  record(pass: GPUComputePassEncoder, buffers: GpuBatchBuffers, items: readonly PlaneItem[]): void;
}

/** Where an item's dense result lies in the map buffer. */
export interface MapPlace {
  offset: number;
  stride: number;
}

/** Pixels that a lane computes, the same in every kernel: rows of one vector. */
export const lanePixels = { x: laneBytes, y: 4 } as const;

const itemWords = 16;
/** Items of a batch at most: what fits 64 KiB, the uniform buffer that every device can bind. */
export const maxItems = 1024;
/** Size of the buffer for the table that `packItems` makes. */
export const itemTableBytes = maxItems * 4 * itemWords;

/** Places the dense results of items one after another, rows a multiple of 16 bytes apart; `bytes` is their end. */
export function placeMaps(items: readonly PlaneItem[]): { places: MapPlace[]; bytes: number } {
  let bytes = 0;
  const places = items.map(({ out }) => {
    const place = { offset: bytes, stride: Math.ceil(out.width / laneBytes) * laneBytes };
    bytes += place.stride * out.height;
    return place;
  });
  return { places, bytes };
}

/** The table of items as the kernels' `struct Item` reads it. */
export function packItems(items: readonly PlaneItem[], places: readonly MapPlace[]): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(items.length * itemWords);
  items.forEach(({ offset, stride, stored, out, valid }, i) => {
    const place = places[i]!;
    const x0 = valid.x - out.x;
    const y0 = valid.y - out.y;
    words.set(
      [
        (offset + out.x) / laneBytes,
        stride / laneBytes,
        stored.width,
        stored.height,
        out.x,
        out.y,
        out.width,
        out.height,
        x0,
        y0,
        x0 + valid.width,
        y0 + valid.height,
        place.offset / laneBytes,
        place.stride / laneBytes,
        Math.ceil(out.width / lanePixels.x) * Math.ceil(out.height / lanePixels.y) * lanePixels.x * lanePixels.y -
          valid.width * valid.height,
      ],
      i * itemWords,
    );
  });
  return words;
}

/** Copies the results of a batch out of its mapped buffers. `maps` is absent where none was wanted. */
export function unpackResults(
  items: readonly PlaneItem[],
  places: readonly MapPlace[],
  histograms: Uint32Array,
  maps: Uint8Array | undefined,
): ItemResult[] {
  const bins = histograms.length / items.length;
  return items.map(({ out, valid }, i) => {
    const { offset, stride } = places[i]!;
    return {
      counted: valid.width * valid.height,
      bins: histograms.slice(i * bins, (i + 1) * bins),
      map: maps?.slice(offset, offset + stride * out.height),
      mapStride: maps && stride,
    };
  });
}
