// Images and results for tests of kernels and devices.

import type { Rect, Size } from '@halogrid/geometry';
import { createSamples, type PixelType, type Samples, sampleBytes } from '@halogrid/geometry';
import fc from 'fast-check';
import type { Pixels } from '../kernel/bordered-rows.ts';
import type { Kernels } from '../kernel/kernel.ts';
import type { ItemResult } from '../kernel/plane-item.ts';
import type { Grid } from '../pipeline/grid.ts';
import { type AskedOperation, createPipeline, type Pipeline, pipelineOver } from '../pipeline/pipeline.ts';
import { type PipelineItem, type PipelinePlan, placeItem, planPipeline } from '../pipeline/pipeline-item.ts';

/** An image of 8 or 16 bits: planes without gaps, one after another. */
export interface TestImage<P extends Pixels = Pixels> extends Size {
  pixels: P;
}

/** Whether properties are tried as often as they should be before a change is merged: HALOGRID_THOROUGH=1. */
export const isThorough = process.env.HALOGRID_THOROUGH === '1';

/** How often a property is tried: `full` times if tests are thorough, otherwise a tenth of it. */
export const runs = (full: number): number => (isThorough ? full : Math.ceil(full / 10));

export type { Samples } from '@halogrid/geometry';
export { verifySamples } from './verify-samples.ts';

/** Bytes that a seed decides, below `levels`. */
export function noise(length: number, seed: number, levels = 256): Uint8Array {
  let state = seed | 1;
  return Uint8Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state >>> 8) & 0xff) % levels;
  });
}

/** An image of noise; few levels make ties, which are where implementations differ. */
export function noiseImage(size: Size, seed: number, levels = 256, channels = 1): TestImage<Uint8Array> {
  return { ...size, pixels: noise(size.width * size.height * channels, seed, levels) };
}

/** The same of 16 bits: all values, or few from 0 to 65535. */
export function deepNoiseImage(size: Size, seed: number, levels = 256, channels = 1): TestImage<Uint16Array> {
  const { pixels } = noiseImage(size, seed, levels, channels);
  if (levels < 256)
    return { ...size, pixels: Uint16Array.from(pixels, (v) => Math.round((v * 65_535) / (levels - 1 || 1))) };
  const low = noise(pixels.length, ~seed);
  return { ...size, pixels: Uint16Array.from(pixels, (v, i) => 256 * v + low[i]!) };
}

/** An image of noise of either type of pixels, for a pipeline over them. */
export function noiseFor(pipeline: Pipeline, size: Size, seed: number, levels = 256): TestImage {
  const image = pipeline.pixel === 'u8' ? noiseImage : deepNoiseImage;
  return image(size, seed, levels, pipeline.input.length);
}

/** A pipeline over pixels of that type. */
export function createPipelineOver(
  pixel: PixelType,
  operations: readonly AskedOperation[],
  kernels?: Kernels,
): Pipeline {
  return pipelineOver(pixel, createPipeline(operations, kernels));
}

/** Lays an image's tile out in staging memory, at or after `from`, as a node does it. */
export function stageTile(
  pipeline: Pipeline,
  image: TestImage,
  tile: Rect,
  grid?: Grid,
  from = 0,
): { plan: PipelinePlan; item: PipelineItem; end: number; fill: (bytes: Uint8Array) => void } {
  const plan = planPipeline(pipeline, tile, image, grid);
  const { item, end } = placeItem(plan, pipeline.input.length, from, sampleBytes[pipeline.pixel]);
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: unit } = image.pixels;
  const pixels = new Uint8Array(buffer, byteOffset, byteLength);
  const fill = (bytes: Uint8Array): void => {
    for (let channel = 0; channel < pipeline.input.length; channel++) {
      for (const { from: source, to } of plan.copies) {
        for (let row = 0; row < source.height; row++) {
          const at = (channel * image.height + source.y + row) * image.width + source.x;
          const target = item.offset + channel * item.planeBytes + (to.y + row) * item.stride + to.x * unit;
          bytes.set(pixels.subarray(at * unit, (at + source.width) * unit), target);
        }
      }
    }
  };
  return { plan, item, end, fill };
}

/** A tile of an image in staging memory of its own, with noise around it, so that a kernel that reads that is caught. */
export function staged(
  pipeline: Pipeline,
  image: TestImage,
  tile: Rect = { x: 0, y: 0, width: image.width, height: image.height },
  grid?: Grid,
): { item: PipelineItem; bytes: Uint8Array } {
  const { item, end, fill } = stageTile(pipeline, image, tile, grid);
  const bytes = noise(end, 977);
  fill(bytes);
  return { item, bytes };
}

/** The dense result of a tile as samples without gaps, bands one after another. */
export function samplesOf(pipeline: Pipeline, { map }: ItemResult, { width, height }: Size): Samples {
  const { sample, channels } = pipeline.output;
  const samples = createSamples(sample, width * height * channels.length);
  const packed = new Uint8Array(samples.buffer);
  const rowBytes = width * samples.BYTES_PER_ELEMENT;
  for (let row = 0; row < height * channels.length; row++) {
    const from = Math.floor(row / height) * map!.bandBytes + (row % height) * map!.stride;
    packed.set(map!.bytes.subarray(from, from + rowBytes), row * rowBytes);
  }
  return samples;
}

/** A tile of an image of noise, in every position: within it, at its edges, or all of it. */
export interface TestTile {
  size: Size;
  tile: Rect;
  levels: number;
  seed: number;
}

/** Tiles of images of at most `width` x `height` pixels. */
export function tileArbitrary(width: number, height: number): fc.Arbitrary<TestTile> {
  return fc
    .record({
      width: fc.oneof(fc.integer({ min: 1, max: Math.min(4, width) }), fc.integer({ min: 1, max: width })),
      height: fc.oneof(fc.integer({ min: 1, max: Math.min(4, height) }), fc.integer({ min: 1, max: height })),
      left: fc.nat(width - 1),
      top: fc.nat(height - 1),
      tileWidth: fc.integer({ min: 1, max: width }),
      tileHeight: fc.integer({ min: 1, max: height }),
      isWhole: fc.boolean(),
      levels: fc.constantFrom(1, 2, 4, 256),
      seed: fc.integer(),
    })
    .map(({ width, height, left, top, tileWidth, tileHeight, isWhole, levels, seed }) => {
      const x = isWhole ? 0 : left % width;
      const y = isWhole ? 0 : top % height;
      const tile = isWhole
        ? { x, y, width, height }
        : { x, y, width: Math.min(tileWidth, width - x), height: Math.min(tileHeight, height - y) };
      return { size: { width, height }, tile, levels, seed };
    });
}
