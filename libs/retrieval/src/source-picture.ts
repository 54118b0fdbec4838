import { regionPicture } from '@halogrid/results/region-picture';
import { thumbnail } from '@halogrid/results/thumbnails';
import type { Orders, PngPicture } from './orders.ts';

/** A picture of an image, of a part of it, or of a frame of a video. Rejects as sources do. */
export async function sourcePicture({ uri, videoFrame, region, side }: Orders['region']['order']): Promise<PngPicture> {
  const { png, of } =
    region && videoFrame === undefined
      ? await regionPicture(uri, region, side)
      : await thumbnail({ uri, ...(videoFrame !== undefined && { videoFrame }) }, { width: side, height: side });
  return { png, ...of };
}
