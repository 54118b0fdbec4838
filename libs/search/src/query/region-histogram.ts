import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import {
  cellsOf,
  createPipeline,
  type Pipeline,
  type PipelinePlan,
  pipelineOver,
  placeItem,
  planPipeline,
} from '@halogrid/kernels';
import { runCpu } from '@halogrid/kernels/cpu';
import { InputError } from '@halogrid/sources';
import { countsOfCell, type PipelineIdentity } from '../store/pipeline-identity.ts';
import type { PixelSource } from './pixel-source.ts';

/** The side of a tile that is computed at once: its plane, and the plane of each kernel, is a megabyte. */
const tilePx = 1024;

/**
 * The counts of a region of an image. The index's grid is laid over the region; the counts of its cells come one after
 * another. Each pixel has the code that it has in the whole image: pixels around the region are read, and only the
 * image has borders. So a region that is a grid cell has that cell's histogram. Rejects with InputError if the region
 * leaves the image, or the image is too small for the kernels.
 */
export async function regionHistogram(
  source: PixelSource,
  identity: PipelineIdentity,
  region: Rect = { x: 0, y: 0, ...sizeOf(source) },
): Promise<Float64Array> {
  checkRegion(source, region);
  const pipeline = pipelineOver(source.pixel, createPipeline(identity.operations));
  const shortSide = Math.min(source.width, source.height);
  if (shortSide < pipeline.minSide) {
    const size = `${source.width}x${source.height} is smaller than the ${pipeline.minSide} pixels`;
    throw new InputError('decode', `${size} a side that the kernels of the index need`);
  }
  const cellBins = countsOfCell(identity);
  const bins = new Float64Array(identity.grid.rows * identity.grid.columns * cellBins);
  for (const tile of tilesOf(region)) {
    const plan = planPipeline(pipeline, tile, sizeOf(source));
    const inRegion = { ...tile, x: tile.x - region.x, y: tile.y - region.y };
    const cells = cellsOf(identity.grid, region, inRegion);
    const { out } = plan.stages.at(-1)!;
    const parts = cells.map(({ rect }) => ({
      ...rect,
      x: rect.x - inRegion.x + out.x,
      y: rect.y - inRegion.y + out.y,
    }));
    const counts = await compute(source, pipeline, { ...plan, parts });
    cells.forEach(({ row, column }, part) => {
      const to = (row * identity.grid.columns + column) * cellBins;
      for (let bin = 0; bin < cellBins; bin++) bins[to + bin]! += counts[part * cellBins + bin]!;
    });
  }
  return bins;
}

const sizeOf = ({ width, height }: Size): Size => ({ width, height });

function checkRegion({ width, height }: Size, region: Rect): void {
  const isInside = region.x + region.width <= width && region.y + region.height <= height;
  if (isInside && region.width > 0 && region.height > 0) return;
  const words = `${region.x},${region.y},${region.width}x${region.height}`;
  throw new InputError('decode', `The region ${words} is not inside of the image, which has ${width}x${height} pixels`);
}

function* tilesOf({ x, y, width, height }: Rect): Generator<Rect> {
  for (let top = 0; top < height; top += tilePx) {
    for (let left = 0; left < width; left += tilePx) {
      const size = { width: Math.min(tilePx, width - left), height: Math.min(tilePx, height - top) };
      yield { x: x + left, y: y + top, ...size };
    }
  }
}

async function compute(source: PixelSource, pipeline: Pipeline, plan: PipelinePlan): Promise<Uint32Array> {
  const unit = sampleBytes[source.pixel];
  const { item, end } = placeItem(plan, pipeline.input.length, 0, unit);
  const bytes = new Uint8Array(end);
  const channels = pipeline.input.length === 1 ? 'gray' : 'rgb';
  for (const { from, to } of plan.copies) {
    const offset = item.offset + to.y * item.stride + to.x * unit;
    await source.read(from, { bytes, offset, stride: item.stride, channels, planeBytes: item.planeBytes });
  }
  return runCpu(pipeline, bytes, item, false).bins;
}
