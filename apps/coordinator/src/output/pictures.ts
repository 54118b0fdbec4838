import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Rect } from '@halogrid/geometry';
import { mapType } from '@halogrid/jobs/map-type';
import { tileSide } from '@halogrid/jobs/tile-side';
import { cutTiles, type Pipeline, planesRead } from '@halogrid/kernels';
import { assemblePreview, assembleSourcePicture, hasChunks } from '@halogrid/results';
import type { DoneSource } from './done-sources.ts';

/** The inputs for pictures of a pipeline's results. */
export interface PictureParts {
  pipeline: Pipeline;
  /** Folder URIs of the chunks of its results, and of the chunks of the sources themselves. */
  scratch: string;
  sourcesScratch: string;
  /** As in the job's specification. */
  tilePx: number;
}

/** Paths of the picture of a source's map and of the picture of the source. */
export type PictureFiles = readonly [map: string, source: string];

/** The place of early pictures of a source, whose name is not known yet. */
export const earlyPictures = ({ scratch }: Pick<PictureParts, 'scratch'>, index: number): PictureFiles => {
  const path = join(fileURLToPath(scratch), 'pictures', String(index));
  return [`${path}.png`, `${path}.jpg`];
};

/**
 * Makes both pictures of a source, first the map's. Makes none if their data is missing, because an earlier version
 * chose other sources or kept other pixels of them.
 */
export async function makePictures(
  parts: PictureParts,
  source: DoneSource,
  [map, original]: PictureFiles,
): Promise<void> {
  const { pipeline, scratch, sourcesScratch, tilePx } = parts;
  const { index, size } = source;
  if (!(await hasChunks(scratch, 'preview', index))) return;
  if (!(await hasChunks(sourcesScratch, 'sums', index))) return;
  const set = { source: index, size, rects: rectsOf(source, tilePx) };
  await assemblePreview({ ...set, scratch, type: mapType(pipeline.output), to: map, levels: pipeline.bins });
  await assembleSourcePicture({ ...set, scratch: sourcesScratch, bands: planesRead(pipeline), to: original });
}

/** Moves early pictures into place; false if they are missing. The renames are not synced. */
export async function takePictures([map, original]: PictureFiles, to: PictureFiles): Promise<boolean> {
  try {
    // The source's picture was made last, so the map's exists too.
    await rename(original, to[1]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  await rename(map, to[0]);
  return true;
}

/** The rectangles in which a source was computed: the planner's tiles, or the whole image. */
export function rectsOf({ size, tiles }: DoneSource, tilePx: number): Rect[] {
  return tiles > 1 ? [...cutTiles(size, tileSide(tilePx))] : [{ x: 0, y: 0, ...size }];
}
