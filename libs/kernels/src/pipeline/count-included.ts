import {
  type BitPlane,
  countBits,
  emptySample,
  hasBit,
  type Rect,
  type SampleType,
  sampleBytes,
} from '@halogrid/geometry';
import { binOf } from '../kernel/binning.ts';
import { addTransposes, pairedPixels } from '../kernel/pairs.ts';
import type { DenseResult, ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import type { Pipeline } from './pipeline.ts';
import { restrict } from './pipeline-item.ts';

/** The planes of excluded pixels, see excludedPixels, by channel. */
export const planeOfChannel = (planes: readonly BitPlane[], channel: number): BitPlane =>
  planes[Math.min(channel, planes.length - 1)]!;

/** The pixels that have a result in a channel, in the stored plane's coordinates. */
export function pixelsOfChannel({ pairs, operations }: Pipeline, item: PlaneItem, channel: number): Rect {
  return pairs ? pairedPixels(item, pairs.steps[channel]!, operations.at(-1)!.border) : item.valid;
}

/** The number of counted pixels of an item; if results are pairs, the sum of the first channel's bins. */
export function countedOf(pipeline: Pipeline, item: PlaneItem, excluded?: readonly BitPlane[]): number {
  const { x, y, width, height } = pixelsOfChannel(pipeline, item, 0);
  const without = excluded && countBits(excluded[0]!, { x: x - item.out.x, y: y - item.out.y, width, height });
  return (width * height - (without ?? 0)) * (pipeline.pairs?.isSymmetric ? 2 : 1);
}

/**
 * The counts of each part of an item, from its dense result, in which it puts the value of excluded pixels. It is the
 * reference of count-included.wgsl.
 */
export function countIncluded(
  pipeline: Pipeline,
  item: PlaneItem,
  parts: readonly Rect[],
  excluded: readonly BitPlane[],
  map: DenseResult,
): ItemResult {
  const { bins, binning, output, pairs, operations } = pipeline;
  const { reads = 'u8' } = operations.at(-1)!;
  const { out } = item;
  const channels = output.channels.length;
  const samples = samplesIn(map, output.sample);
  const counts = new Uint32Array(parts.length * channels * bins);
  for (let channel = 0; channel < channels; channel++) {
    const plane = planeOfChannel(excluded, channel);
    for (const [i, part] of parts.entries()) {
      const counted = pixelsOfChannel(pipeline, restrict(item, part), channel);
      const first = (i * channels + channel) * bins;
      for (let y = part.y; y < part.y + part.height; y++) {
        const isRow = y >= counted.y && y < counted.y + counted.height;
        for (let x = part.x; x < part.x + part.width; x++) {
          const [column, row] = [x - out.x, y - out.y];
          if (hasBit(plane, column, row)) samples.put(channel, column, row, emptySample[output.sample]);
          else if (bins > 0 && isRow && x >= counted.x && x < counted.x + counted.width) {
            const value = samples.get(channel, column, row);
            counts[first + (binning ? binOf(value, bins, binning, reads) : value)]!++;
          }
        }
      }
    }
  }
  if (pairs?.isSymmetric) addTransposes(counts, pairs.levels);
  return { counted: countedOf(pipeline, item, excluded), bins: counts, map };
}

/** Reads and writes the samples of a dense result, by band, column and row. */
function samplesIn({ bytes, stride, bandBytes }: DenseResult, sample: SampleType) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const unit = sampleBytes[sample];
  const { get, put } = access[sample];
  const at = (band: number, x: number, y: number): number => band * bandBytes + y * stride + x * unit;
  return {
    get: (band: number, x: number, y: number): number => get(view, at(band, x, y)),
    put: (band: number, x: number, y: number, value: number): void => put(view, at(band, x, y), value),
  };
}

interface Access {
  get(view: DataView, at: number): number;
  put(view: DataView, at: number, value: number): void;
}

const access: Readonly<Record<SampleType, Access>> = {
  u8: { get: (view, at) => view.getUint8(at), put: (view, at, value) => view.setUint8(at, value) },
  u16: { get: (view, at) => view.getUint16(at, true), put: (view, at, value) => view.setUint16(at, value, true) },
  u32: { get: (view, at) => view.getUint32(at, true), put: (view, at, value) => view.setUint32(at, value, true) },
  i16: { get: (view, at) => view.getInt16(at, true), put: (view, at, value) => view.setInt16(at, value, true) },
  f32: { get: (view, at) => view.getFloat32(at, true), put: (view, at, value) => view.setFloat32(at, value, true) },
};
