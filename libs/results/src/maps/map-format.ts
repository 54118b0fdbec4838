import type { MapType } from '../layout/map-type.ts';

/** FORMAT or FORMAT:CODEC. */
export type MapFormat = 'tiff' | 'tiff:deflate' | 'zarr' | 'zarr:zstd' | 'png' | 'dzi';

/** The extensions of maps. */
export const mapExtensions: Readonly<Record<MapFormat, string>> = {
  tiff: '.tif',
  'tiff:deflate': '.tif',
  zarr: '.zarr',
  'zarr:zstd': '.zarr',
  png: '.png',
  dzi: '.dzi',
};

/** Whether nodes may keep the parts of a map as shards of its Zarr. */
export const isZarr = (format: string): boolean => format === 'zarr' || format === 'zarr:zstd';

/** Whether PNG has a form for a map: gray of 8 or 16 bits, or RGB of 8 bits. */
export function pngCanHold({ sample, bands }: MapType): boolean {
  return sample === 'u8' ? bands === 1 || bands === 3 : sample === 'u16' && bands === 1;
}

/**
 * Whether pictures for Deep Zoom can be made of a map without going through all of it first: codes and labels, gray or
 * RGB.
 */
export function dziCanHold({ sample, bands }: MapType, bins: number): boolean {
  return bins > 0 && sample !== 'i16' && sample !== 'f32' && (bands === 1 || bands === 3);
}

/** Why a format cannot hold a map, to follow "because"; undefined if it can. */
export function whyNotHeld(format: string, type: MapType, bins: number): string | undefined {
  const held = type.bands === 1 ? `a band of ${type.sample}` : `${type.bands} bands of ${type.sample}`;
  if (format === 'png' && !pngCanHold(type)) return `a PNG cannot hold ${held}`;
  if (format !== 'dzi' || dziCanHold(type, bins)) return undefined;
  return `Deep Zoom shows one or three bands of codes that have a histogram, not ${held}`;
}
