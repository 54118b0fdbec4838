import { type BitPlane, intersect, type Rect, type Sampling, type Size } from '@halogrid/geometry';
import { lanePixels, type PlaneItem } from '../kernel/plane-item.ts';
import { type Cell, cellsOf, type Grid } from './grid.ts';
import { type CopyRect, planRead } from './halo.ts';
import type { Pipeline } from './pipeline.ts';

/**
 * The pixels that one kernel of a pipeline reads, computes and counts, in the coordinates of the plane that it reads.
 */
export type StagePlan = Pick<PlaneItem, 'stored' | 'out' | 'valid'>;

/**
 * How to read a tile so that a pipeline needs nothing else, and what each of its kernels computes from the result of
 * the one before.
 */
export interface PipelinePlan {
  /** One stage per kernel. The first one's stored plane is what is read, the last one's `out` is the tile. */
  stages: readonly StagePlan[];
  /** The rectangles to copy from the image into the first stored plane; together they fill it. */
  copies: readonly CopyRect[];
  /** Cells of the grid that the tile touches, in the image's coordinates. */
  cells: readonly Cell[];
  /** The parts of the last kernel's `out` that have their own histogram, one per cell, in its coordinates. */
  parts: readonly Rect[];
}

/** A planned tile, and the place of its first stored plane in a staging buffer, as in PlaneItem. */
export interface PipelineItem extends Pick<PlaneItem, 'offset' | 'stride' | 'planeBytes'> {
  stages: readonly StagePlan[];
  parts: readonly Rect[];
  /** The pixels of the last kernel's `out` in the dense result. Default: all. */
  sampling?: Sampling;
  /** The pixels of the last kernel's `out` that are excluded, as excludedPixels has them. Default: none. */
  excluded?: readonly BitPlane[];
  /** The same for each band, if the pipeline reads several. */
  excludedInBands?: readonly (readonly BitPlane[] | undefined)[];
}

const wholeGrid: Grid = { rows: 1, columns: 1 };

/**
 * Plans `tile` of an image of size `image`, from the last kernel to the first: each kernel needs its halo from the one
 * before.
 */
export function planPipeline(pipeline: Pipeline, tile: Rect, image: Size, grid: Grid = wholeGrid): PipelinePlan {
  const stages: StagePlan[] = [];
  let copies: CopyRect[] = [];
  let wanted = tile;
  for (const { halo, border, pairs } of pipeline.operations.toReversed()) {
    const { stored, out, valid, ...read } = planRead(wanted, image, halo, border, pairs !== undefined);
    stages.unshift({ stored, out, valid });
    copies = read.copies;
    wanted = { x: wanted.x - out.x, y: wanted.y - out.y, ...stored };
  }
  const { out } = stages.at(-1)!;
  const cells = cellsOf(grid, image, tile);
  const parts = cells.map(({ rect }) => ({ ...rect, x: rect.x - tile.x + out.x, y: rect.y - tile.y + out.y }));
  return { stages, copies, cells, parts };
}

/**
 * Places a planned tile at or after byte `from`, for a pipeline of `channels` input channels with pixels of
 * `pixelBytes` bytes. `end` is where the next tile may begin. The first pixel that the first kernel computes is on a
 * boundary of 16 pixels, because a GPU lane loads 16 at once.
 */
export function placeItem(
  plan: PipelinePlan,
  channels: number,
  from: number,
  pixelBytes = 1,
): { item: PipelineItem; end: number } {
  const { stored, out } = plan.stages[0]!;
  const { place, end } = placePlanes(stored, out.x, channels, from, pixelBytes);
  return { item: { ...place, stages: plan.stages, parts: plan.parts }, end };
}

/**
 * The place of stored planes of size `stored` at or after byte `from`, with column `firstX` on such a boundary.
 * `stride`: bytes from a row to the next, a multiple of 16 pixels that fits a row. Default: the least with which no two
 * rows share such 16 pixels.
 */
export function placePlanes(
  stored: Size,
  firstX: number,
  channels: number,
  from: number,
  pixelBytes: number,
  stride?: number,
): { place: Pick<PlaneItem, 'offset' | 'stride' | 'planeBytes'>; end: number } {
  const lead = (lanePixels - (firstX % lanePixels)) % lanePixels;
  const offset = roundUp(from, lanePixels * pixelBytes) + lead * pixelBytes;
  const rowBytes = stride ?? roundUp(stored.width + lead, lanePixels) * pixelBytes;
  const planeBytes = rowBytes * stored.height;
  return { place: { offset, stride: rowBytes, planeBytes }, end: roundUp(offset + planeBytes * channels, 256) };
}

/** `item` restricted to one of its parts. */
export function restrict(item: PlaneItem, part: Rect): PlaneItem {
  const valid = intersect(item.valid, part);
  const isEmpty = valid.width === 0 || valid.height === 0;
  return { ...item, out: part, valid: isEmpty ? { x: part.x, y: part.y, width: 0, height: 0 } : valid };
}

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
