import { type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import type { MapType } from '../layout/map-type.ts';
import { layOutZarrLevel, type ZarrLevel, ZarrShard } from '../layout/map-zarr-layout.ts';
import type { PlanarSamples, TakeMemory } from './planar-samples.ts';

/** The shard of level 0 with the pixels of `rect`, which is one of the rectangles of `wholeShards`. */
export function shardAt(rect: Rect, size: Size, type: MapType): { level: ZarrLevel; shard: ZarrShard } {
  const level = layOutZarrLevel(size, type);
  const [column, row] = [rect.x / level.shard.width, rect.y / level.shard.height];
  return { level, shard: new ZarrShard(level, type.bands, column, row) };
}

/**
 * The content of a shard file with the pixels of `rect`, in memory from `take`. Parts of chunks beyond the map are 0.
 * Used memory is cleared at 10 GB a second, while new pages come at one or two (measured).
 */
export function shardContent(
  samples: PlanarSamples,
  type: MapType,
  rect: Rect,
  size: Size,
  take: TakeMemory = (length) => new Uint8Array(length),
): Uint8Array {
  const { bytes, strideBytes, bandBytes } = samples;
  const { level, shard } = shardAt(rect, size, type);
  const { width, height } = level.chunk;
  const unit = sampleBytes[type.sample];
  const content = take(shard.bytes).fill(0);
  for (let band = 0; band < type.bands; band++) {
    for (let row = 0; row < rect.height; row++) {
      const from = band * bandBytes + row * strideBytes;
      const chunkRow = Math.floor(row / height);
      for (let x = 0; x < shard.width; x++) {
        const columns = Math.min(width, rect.width - x * width);
        const at = from + x * width * unit;
        const to = shard.offset(band, chunkRow, x) + (row % height) * width * unit;
        content.set(bytes.subarray(at, at + columns * unit), to);
      }
    }
  }
  content.set(shard.index(), shard.chunksBytes);
  return content;
}
