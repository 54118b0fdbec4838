import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32c, planeUri } from '@halogrid/sources';

/** An array of format 3 for tests; its samples are `sampleAt` of their indices. */
export interface ZarrOfTests {
  shape: readonly number[];
  /** What is compressed at once. */
  chunk: readonly number[];
  /** Shards of so many chunks along each axis. */
  perShard?: readonly number[];
  isIndexFirst?: boolean;
  pixel?: 'u8' | 'u16';
  isBigEndian?: boolean;
  /** The order of the axes in a chunk's bytes. */
  order?: readonly number[];
  /** Names and configurations behind the bytes of a chunk. */
  codecs?: readonly object[];
  encode?: (bytes: Buffer) => Uint8Array | Promise<Uint8Array>;
  /** Whether a chunk is left out; its samples are the fill value. */
  lacks?: (coordinates: readonly number[]) => boolean;
  fill?: number;
  axes?: readonly string[];
}

/** The sample of these indices, another one for its neighbours. */
export const sampleAt = (indices: readonly number[], pixel: 'u8' | 'u16' = 'u8'): number =>
  indices.reduce((hash, index) => (hash * 31 + index * 17 + (index >> 3)) & 0xffffff, 7) %
  (pixel === 'u8' ? 251 : 65521);

/** Writes the array to a folder, by the specification and without a library. Returns the URI of its metadata. */
export async function writeZarr(folder: string, array: ZarrOfTests): Promise<string> {
  const { shape, chunk, perShard, isIndexFirst = false, lacks = () => false } = array;
  const ofChunk = [
    ...(array.order ? [{ name: 'transpose', configuration: { order: array.order } }] : []),
    { name: 'bytes', configuration: { endian: array.isBigEndian ? 'big' : 'little' } },
    ...(array.codecs ?? []),
  ];
  const sharding = {
    chunk_shape: chunk,
    codecs: ofChunk,
    index_codecs: [{ name: 'bytes', configuration: { endian: 'little' } }, { name: 'crc32c' }],
    index_location: isIndexFirst ? 'start' : 'end',
  };
  const file = perShard ? chunk.map((size, i) => size * perShard[i]!) : chunk;
  const metadata = {
    zarr_format: 3,
    node_type: 'array',
    shape,
    data_type: array.pixel === 'u16' ? 'uint16' : 'uint8',
    chunk_grid: { name: 'regular', configuration: { chunk_shape: file } },
    chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
    fill_value: array.fill ?? 0,
    codecs: perShard ? [{ name: 'sharding_indexed', configuration: sharding }] : ofChunk,
    attributes: {},
    ...(array.axes && { dimension_names: array.axes }),
  };
  const put = async (path: string, bytes: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  };
  await put('zarr.json', JSON.stringify(metadata));
  const encoded = async (coordinates: readonly number[]): Promise<Uint8Array | undefined> => {
    const first = coordinates.map((at, i) => at * chunk[i]!);
    if (lacks(coordinates) || first.some((at, i) => at >= shape[i]!)) return undefined;
    return await (array.encode ?? ((bytes) => bytes))(bytesOfChunk(array, first));
  };
  for (const coordinates of indicesOf(shape.map((size, i) => Math.ceil(size / file[i]!)))) {
    const bytes = perShard
      ? await shardOf(perShard, isIndexFirst, (inner) =>
          encoded(inner.map((at, i) => coordinates[i]! * perShard[i]! + at)),
        )
      : await encoded(coordinates);
    if (bytes) await put(['c', ...coordinates].join('/'), bytes);
  }
  return pathToFileURL(join(folder, 'zarr.json')).href;
}

/** The URI of a plane by the metadata's URI. */
export const planeOf = (file: string, indices: readonly number[]): string =>
  planeUri({ file, axes: indices.map((_, i) => `a${i}`), indices });

/** The samples of a plane, little-endian. */
export function planeBytes(
  { shape, chunk, pixel = 'u8', lacks = () => false, fill = 0 }: ZarrOfTests,
  outer: readonly number[],
): Buffer {
  const [height, width] = shape.slice(-2) as [number, number];
  return samplesToBytes(
    Array.from(indicesOf([height, width]), (at) => {
      const indices = [...outer, ...at];
      return lacks(indices.map((index, i) => Math.floor(index / chunk[i]!))) ? fill : sampleAt(indices, pixel);
    }),
    pixel,
    false,
  );
}

function bytesOfChunk(
  { shape, chunk, pixel = 'u8', isBigEndian = false, order }: ZarrOfTests,
  first: readonly number[],
): Buffer {
  // The last axis of the order is the one whose samples lie side by side.
  const axes = order ?? chunk.map((_, i) => i);
  const samples = Array.from(indicesOf(axes.map((axis) => chunk[axis]!)), (inOrder) => {
    const indices = [...first];
    for (const [i, axis] of axes.entries()) indices[axis]! += inOrder[i]!;
    return indices.some((at, i) => at >= shape[i]!) ? 99 : sampleAt(indices, pixel);
  });
  return samplesToBytes(samples, pixel, isBigEndian);
}

function samplesToBytes(samples: readonly number[], pixel: 'u8' | 'u16', isBigEndian: boolean): Buffer {
  if (pixel === 'u8') return Buffer.from(samples);
  const bytes = Buffer.from(Uint16Array.from(samples).buffer);
  return isBigEndian ? bytes.swap16() : bytes;
}

async function shardOf(
  perShard: readonly number[],
  isIndexFirst: boolean,
  chunkAt: (inner: readonly number[]) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  const all = [...indicesOf(perShard)];
  const index = Buffer.alloc(16 * all.length + 4);
  const chunks: Uint8Array[] = [];
  let at = isIndexFirst ? index.length : 0;
  for (const [nth, inner] of all.entries()) {
    const bytes = await chunkAt(inner);
    index.writeBigUInt64LE(bytes ? BigInt(at) : 2n ** 64n - 1n, 16 * nth);
    index.writeBigUInt64LE(bytes ? BigInt(bytes.length) : 2n ** 64n - 1n, 16 * nth + 8);
    if (!bytes) continue;
    chunks.push(bytes);
    at += bytes.length;
  }
  if (chunks.length === 0) return undefined;
  index.writeUInt32LE(crc32c(index.subarray(0, -4)), index.length - 4);
  return Buffer.concat(isIndexFirst ? [index, ...chunks] : [...chunks, index]);
}

/** All indices below these sizes, the last axis fastest. */
function* indicesOf(sizes: readonly number[]): Generator<number[]> {
  const [size, ...rest] = sizes;
  if (size === undefined) return yield [];
  for (let at = 0; at < size; at++) for (const inner of indicesOf(rest)) yield [at, ...inner];
}
