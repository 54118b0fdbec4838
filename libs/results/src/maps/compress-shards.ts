import { rename } from 'node:fs/promises';
import type { Size } from '@halogrid/geometry';
import type { MapType } from '../layout/map-type.ts';
import { layOutZarrLevel, shardPath, ZarrShard } from '../layout/map-zarr-layout.ts';
import { type AppendOptions, appendTiles, rewriteFile } from './append-tiles.ts';
import { writeFully } from './strip-piece.ts';

/**
 * Replaces each shard of a Zarr, of all levels, by one with compressed chunks, in the same order. Files elsewhere that
 * are linked to the shards stay as they are.
 */
export async function compressShards(
  path: string,
  sizes: readonly Size[],
  type: MapType,
  options: Omit<AppendOptions, 'codec'>,
): Promise<void> {
  for (const [i, size] of sizes.entries()) {
    const level = layOutZarrLevel(size, type);
    const { chunks, perShard } = level;
    for (let row = 0; row * perShard.height < chunks.height; row++) {
      for (let column = 0; column * perShard.width < chunks.width; column++) {
        const shard = new ZarrShard(level, type.bands, column, row);
        const plain = shardPath(path, type, i, row, column);
        const compressed = `${plain}.tmp`;
        await rewriteFile(plain, compressed, async (from, to) => {
          const places = await appendTiles(from, shard.places(), to, 0, { ...options, codec: 'zstd' });
          const { offset, bytes } = places.at(-1)!;
          await writeFully(to, shard.index(places), offset + bytes);
        });
        await rename(compressed, plain);
      }
    }
  }
}
