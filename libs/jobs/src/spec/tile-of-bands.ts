import { defaultTilePx } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { isZarr } from '@halogrid/results/map-format';

/** The least side: a tile of a map in TIFF, and as GDAL cuts Cloud Optimized GeoTIFFs. */
const leastPx = 512;

/**
 * The side of tiles of a job that does not ask for one: smaller the more bands are read, so that a tile of several has
 * about as many samples as one of gray. As many tiles are then under way, and cores decode some while they compute
 * others. 0, the usual side, for up to three bands, and for maps in Zarr, whose whole shards nodes write only so.
 */
export function tilePxOfBands({ band, mapFormat }: Pick<JobSpec, 'band' | 'mapFormat'>): number {
  const bands = band?.numbers.length ?? 1;
  if (bands < 4 || isZarr(mapFormat)) return 0;
  return Math.max(leastPx, defaultTilePx / 2 ** Math.floor(Math.log2(bands) / 2));
}
