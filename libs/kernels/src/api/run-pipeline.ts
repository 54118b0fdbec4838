import { type Size, sampleBytes } from '@halogrid/geometry';
import { ParameterError } from '../kernel/parameter-error.ts';
import { cutTiles, defaultTilePx } from '../pipeline/cut-tiles.ts';
import { checkGrid } from '../pipeline/grid.ts';
import { type Pipeline, pipelineOver } from '../pipeline/pipeline.ts';
import { placeItem, planPipeline } from '../pipeline/pipeline-item.ts';
import { checkGridForm, checkPicture } from './check-call.ts';
import { asComputeDevice } from './compute-device.ts';
import { Gathered } from './gathered.ts';
import { fillPlanes, imageOfPicture } from './image.ts';
import { usualDevice } from './open.ts';
import type { Picture, Result, RunOptions } from './types.ts';

/** Computes a picture, in tiles if it exceeds the device's limit. */
export async function computePicture(
  of8Bits: Pipeline,
  picture: Picture,
  { device: given, grid = { rows: 1, columns: 1 }, map = true }: RunOptions,
): Promise<Result> {
  const image = imageOfPicture(checkPicture(picture));
  const pipeline = pipelineOver(image.pixel, of8Bits);
  checkSides(image, pipeline);
  checkGrid(checkGridForm(grid), pipeline);
  const device = asComputeDevice(given ?? (await usualDevice()));
  const gathered = new Gathered(pipeline, image, grid);
  for (const tile of cutTiles(image, largestTileSide(pipeline, device.mostBytes))) {
    const plan = planPipeline(pipeline, tile, image, grid);
    const { item, end } = placeItem(plan, pipeline.input.length, 0, sampleBytes[pipeline.pixel]);
    const fill = (bytes: Uint8Array): void => fillPlanes(image, pipeline, plan.copies, bytes, item);
    gathered.add(tile, plan.cells, await device.compute({ pipeline, item, bytes: end, withMap: map, fill }));
  }
  const { histogram, counted } = gathered;
  const { width, height } = image;
  return {
    width,
    height,
    channels: pipeline.output.channels,
    map: gathered.map,
    bins: pipeline.bins,
    histogram,
    counted,
  };
}

function checkSides({ width, height }: Size, { minSide }: Pipeline): void {
  if (Math.min(width, height) >= minSide) return;
  throw new ParameterError('a picture', `${width} x ${height}`, `at least ${minSide} x ${minSide} pixels`);
}

/** The side of the largest tiles whose planes, and whose map, have at most `mostBytes` bytes each. */
export function largestTileSide({ operations, input, pixel, output }: Pipeline, mostBytes: number): number {
  const ofPlanes = input.length * sampleBytes[pixel];
  const ofMap = output.channels.length * sampleBytes[output.sample];
  const halo = operations.reduce((sum, operation) => sum + operation.halo, 0);
  // A stored row may begin and end up to 16 pixels beyond the tile.
  const side = Math.floor(Math.sqrt(mostBytes / Math.max(ofPlanes, ofMap))) - 2 * halo - 32;
  return Math.min(defaultTilePx, side);
}
