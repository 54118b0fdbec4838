import { type BitPlane, cropBits, type Rect, type Size } from '@halogrid/geometry';
import type { PlaneItem } from '../kernel/plane-item.ts';
import { excludedPixels } from './excluded-pixels.ts';
import type { Grid } from './grid.ts';
import { type CopyRect, copiesOf } from './halo.ts';
import type { Pipeline } from './pipeline.ts';
import { type PipelineItem, type PipelinePlan, placePlanes, planPipeline } from './pipeline-item.ts';

/** How to read a tile once for several pipelines, which take the same channels. */
export interface SharedPlan {
  /** One per pipeline. */
  plans: readonly PipelinePlan[];
  /** Size of the plane with everything that any of them reads. */
  stored: Size;
  /** The rectangles to copy from the image into it; together they fill it. */
  copies: readonly CopyRect[];
  /** The corner of each pipeline's first stored plane in it. */
  corners: readonly { x: number; y: number }[];
}

/** A planned tile in a staging buffer: its planes, as in PlaneItem, and the part that each pipeline reads. */
export interface SharedItem extends Pick<PlaneItem, 'offset' | 'stride' | 'planeBytes'> {
  items: readonly PipelineItem[];
}

/**
 * Plans `tile` of an image of size `image` for each pipeline. It reads the smallest rectangle that is enough for all.
 */
export function planPipelines(pipelines: readonly Pipeline[], tile: Rect, image: Size, grid?: Grid): SharedPlan {
  const plans = pipelines.map((pipeline) => planPipeline(pipeline, tile, image, grid));
  const reads = plans.map((plan) => readOf(plan, tile));
  const x = Math.min(...reads.map((read) => read.x));
  const y = Math.min(...reads.map((read) => read.y));
  const width = Math.max(...reads.map((read) => read.x + read.width)) - x;
  const height = Math.max(...reads.map((read) => read.y + read.height)) - y;
  return {
    plans,
    stored: { width, height },
    copies: copiesOf({ x, y, width, height }, image),
    corners: reads.map((read) => ({ x: read.x - x, y: read.y - y })),
  };
}

/**
 * As placeItem, with a `stride` as for placePlanes. The first pixel that the first pipeline computes is on the boundary
 * of 16 pixels.
 */
export function placeSharedItem(
  { plans, stored, corners }: SharedPlan,
  channels: number,
  from: number,
  pixelBytes = 1,
  stride?: number,
): { item: SharedItem; end: number } {
  const firstX = corners[0]!.x + plans[0]!.stages[0]!.out.x;
  const { place, end } = placePlanes(stored, firstX, channels, from, pixelBytes, stride);
  const items = plans.map(({ stages, parts }, i): PipelineItem => {
    const { x, y } = corners[i]!;
    return { ...place, offset: place.offset + y * place.stride + x * pixelBytes, stages, parts };
  });
  return { item: { ...place, items }, end };
}

/** For each band that is read, or for all channels, the pixels without a value; and the masked pixels. */
export interface UncountedInPlanes {
  noData?: readonly BitPlane[] | undefined;
  masked?: BitPlane | undefined;
}

/** Excludes pixels of a placed tile for each pipeline. The planes have the size of the plan's stored plane. */
export function excludeShared(
  pipelines: readonly Pipeline[],
  { plans, corners }: Pick<SharedPlan, 'plans' | 'corners'>,
  { items }: SharedItem,
  { noData = [], masked }: UncountedInPlanes,
): void {
  for (const [i, pipeline] of pipelines.entries()) {
    const { stages } = plans[i]!;
    const own = (plane: BitPlane | undefined) => plane && cropBits(plane, { ...corners[i]!, ...stages[0]!.stored });
    const ownMasked = own(masked);
    const excluded = (pipeline.bands ?? [0]).map((_, band) =>
      excludedPixels(pipeline, stages, { noData: own(noData[band]), masked: ownMasked }),
    );
    if (pipeline.bands) items[i]!.excludedInBands = excluded;
    else if (excluded[0]) items[i]!.excluded = excluded[0];
  }
}

/** The rectangle of an image that a pipeline reads: each kernel reads its halo around its result. */
function readOf({ stages }: PipelinePlan, tile: Rect): Rect {
  const x = stages.reduce((left, { out }) => left - out.x, tile.x);
  const y = stages.reduce((top, { out }) => top - out.y, tile.y);
  return { x, y, ...stages[0]!.stored };
}
