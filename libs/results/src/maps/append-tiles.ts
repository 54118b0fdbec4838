import { type FileHandle, open } from 'node:fs/promises';
import { mapAhead } from '@halogrid/threads';
import { readFully } from '../chunks/chunk-reader.ts';
import type { MapCodec, TilePlace } from '../layout/map-codec.ts';
import type { CompressThreads } from './compress-threads.ts';
import { writeFully } from './strip-piece.ts';

export interface AppendOptions {
  codec: MapCodec;
  threads: CompressThreads;
  signal: AbortSignal | undefined;
}

/**
 * Compresses tiles of a file, and writes them to another one without gaps, from the byte `at` on, in their order.
 * Resolves with their places there.
 */
export async function appendTiles(
  from: FileHandle,
  tiles: Iterable<TilePlace>,
  to: FileHandle,
  at: number,
  { codec, threads, signal }: AppendOptions,
): Promise<TilePlace[]> {
  const compress = ({ offset, bytes }: TilePlace): Promise<Uint8Array> =>
    threads.compress(codec, async () => {
      const tile = new Uint8Array(bytes);
      await readFully(from, tile, offset);
      return tile;
    });
  const places: TilePlace[] = [];
  let offset = at;
  for await (const tile of mapAhead(tiles, threads.ahead, compress, { ...(signal && { signal }) })) {
    await writeFully(to, tile, offset);
    places.push({ offset, bytes: tile.length });
    offset += tile.length;
  }
  return places;
}

/** Opens a file and a new one for `write`, and then syncs the new one. */
export async function rewriteFile(
  path: string,
  newPath: string,
  write: (from: FileHandle, to: FileHandle) => Promise<void>,
): Promise<void> {
  const from = await open(path);
  try {
    const to = await open(newPath, 'wx');
    try {
      await write(from, to);
      await to.sync();
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}
