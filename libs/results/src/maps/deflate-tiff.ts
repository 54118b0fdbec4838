import type { Size } from '@halogrid/geometry';
import type { TilePlace } from '../layout/map-codec.ts';
import type { MapType } from '../layout/map-type.ts';
import { type AppendOptions, appendTiles, rewriteFile } from './append-tiles.ts';
import {
  classicTiffBytes,
  deflatedHead,
  layOutMapTiff,
  type MapTiffFacts,
  mapTilePx,
  tilePlaces,
} from './map-tiff-layout.ts';
import { pyramidSizes } from './pyramid.ts';
import { writeFully } from './strip-piece.ts';

/**
 * The longest classic file that is compressed to a classic one: tiles that cannot be compressed become longer, by less
 * than a thousandth.
 */
export const classicPlainBytes = classicTiffBytes - 2 ** 26;

/**
 * Writes the file of MapTiffWriter at `plain` to a new one with compressed tiles, in the same order: the coarsest level
 * first. `plain` was created with the same `size`, `type`, `facts` and `classicBytes`.
 */
export async function deflateTiff(
  plain: string,
  path: string,
  { size, type, facts }: { size: Size; type: MapType; facts: MapTiffFacts },
  options: Omit<AppendOptions, 'codec'>,
  classicBytes = classicPlainBytes,
): Promise<void> {
  const layout = layOutMapTiff(pyramidSizes(size, mapTilePx), type, facts, classicBytes);
  await rewriteFile(plain, path, async (from, to) => {
    const places: TilePlace[][] = [];
    let at = layout.head.length;
    for (const level of layout.levels.toReversed()) {
      const its = await appendTiles(from, tilePlaces(level), to, at, { ...options, codec: 'deflate' });
      places.unshift(its);
      at = its.at(-1)!.offset + its.at(-1)!.bytes;
    }
    await writeFully(to, deflatedHead(layout, places, type, facts), 0);
  });
}
