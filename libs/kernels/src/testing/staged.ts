import { createSamples, type MapSamples, type PixelType, type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import type { Kernels } from '../kernel/kernel.ts';
import type { AskedOperation } from '../kernel/operation.ts';
import type { ItemResult } from '../kernel/plane-item.ts';
import type { Grid } from '../pipeline/grid.ts';
import { createPipeline, type Pipeline, pipelineOver } from '../pipeline/pipeline.ts';
import { type PipelineItem, type PipelinePlan, placeItem, planPipeline } from '../pipeline/pipeline-item.ts';
import { noise, type TestImage } from './noise.ts';

/** A pipeline for pixels of type `pixel`. */
export function createPipelineOver(
  pixel: PixelType,
  operations: readonly AskedOperation[],
  kernels?: Kernels,
): Pipeline {
  return pipelineOver(pixel, createPipeline(operations, kernels));
}

/** Lays out an image's tile in staging memory, at or after `from`, as a node does. */
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

/** A tile of an image in its own staging memory, surrounded by noise, so that a kernel that reads too far is caught. */
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
export function samplesOf(pipeline: Pipeline, { map }: ItemResult, { width, height }: Size): MapSamples {
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
