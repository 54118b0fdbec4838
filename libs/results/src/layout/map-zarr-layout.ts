import { join } from 'node:path';
import { emptySample, type Rect, type SampleType, type Size, sampleBytes } from '@halogrid/geometry';
import type { Place } from '@halogrid/imaging/place';
import { crc32c } from '@halogrid/sources/crc32c';
import { type MapCodec, type TilePlace, zstdLevel } from './map-codec.ts';
import type { MapKind, MapType } from './map-type.ts';
import { placeAttributes } from './place-attributes.ts';

/**
 * Side of the chunks that a reader fetches, in pixels. Chunks of a smaller image are as wide or as high as the image.
 */
export const zarrChunkPx = 512;

/** The most chunks of a shard in x and in y: its file has up to 16 MiB for each byte of a pixel. */
const shardSide = 8;

/** Marks a chunk that a shard does not have. */
const absent = 2n ** 64n - 1n;

const dataTypes: Record<SampleType, string> = {
  u8: 'uint8',
  u16: 'uint16',
  u32: 'uint32',
  i16: 'int16',
  f32: 'float32',
};

/**
 * How a level is cut. A chunk has `chunk` pixels of one band. A shard has `perShard` chunks in x and y, of every band.
 */
export interface ZarrLevel {
  size: Size;
  chunk: Size;
  chunkBytes: number;
  /** Chunks of the level. */
  chunks: Size;
  /** Chunks of a shard. */
  perShard: Size;
  /** Pixels of a shard. Shards at the right and at the bottom have fewer. */
  shard: Size;
}

export function layOutZarrLevel(size: Size, type: MapType): ZarrLevel {
  const chunk = { width: Math.min(zarrChunkPx, size.width), height: Math.min(zarrChunkPx, size.height) };
  const chunks = { width: Math.ceil(size.width / chunk.width), height: Math.ceil(size.height / chunk.height) };
  const perShard = { width: Math.min(shardSide, chunks.width), height: Math.min(shardSide, chunks.height) };
  const chunkBytes = chunk.width * chunk.height * sampleBytes[type.sample];
  const shard = { width: perShard.width * chunk.width, height: perShard.height * chunk.height };
  return { size, chunk, chunkBytes, chunks, perShard, shard };
}

/** The shards of level 0 that a part of a map is made of, row by row; undefined if the part cuts a shard. */
export function wholeShards(part: Rect, size: Size, type: MapType): Rect[] | undefined {
  const { width, height } = layOutZarrLevel(size, type).shard;
  const [right, bottom] = [part.x + part.width, part.y + part.height];
  const isEdge = (at: number, side: number, end: number): boolean => at % side === 0 || at === end;
  const atEdges = isEdge(part.x, width, 0) && isEdge(right, width, size.width);
  if (!atEdges || !isEdge(part.y, height, 0) || !isEdge(bottom, height, size.height)) return undefined;
  const shards: Rect[] = [];
  for (let y = part.y; y < bottom; y += height) {
    for (let x = part.x; x < right; x += width) {
      shards.push({ x, y, width: Math.min(width, right - x), height: Math.min(height, bottom - y) });
    }
  }
  return shards;
}

/**
 * A shard: its chunks without gaps in the order of bands, rows and columns, then the index. Chunks beyond the array are
 * left out. Every other chunk is there, also one of zeros.
 */
export class ZarrShard {
  /** Column and row of its first chunk in the level. */
  readonly x: number;
  readonly y: number;
  /** How many chunks it has in x and y. */
  readonly width: number;
  readonly height: number;
  readonly #level: ZarrLevel;
  readonly #bands: number;

  constructor(level: ZarrLevel, bands: number, column: number, row: number) {
    const { chunks, perShard } = level;
    this.x = column * perShard.width;
    this.y = row * perShard.height;
    this.width = Math.min(perShard.width, chunks.width - this.x);
    this.height = Math.min(perShard.height, chunks.height - this.y);
    this.#level = level;
    this.#bands = bands;
  }

  /** The byte at which a chunk begins; `x` and `y` count from the shard's first chunk. */
  offset(band: number, y: number, x: number): number {
    return ((band * this.height + y) * this.width + x) * this.#level.chunkBytes;
  }

  /** Bytes before the index. */
  get chunksBytes(): number {
    return this.offset(this.#bands, 0, 0);
  }

  /** Bytes of the file. */
  get bytes(): number {
    const { perShard } = this.#level;
    return this.chunksBytes + indexBytes(this.#bands * perShard.height * perShard.width);
  }

  /** The places of its chunks, in their order. */
  *places(): Generator<TilePlace> {
    const { chunkBytes } = this.#level;
    const chunks = this.#bands * this.height * this.width;
    for (let i = 0; i < chunks; i++) yield { offset: i * chunkBytes, bytes: chunkBytes };
  }

  /**
   * The index: offset and length of every chunk that a full shard has, and a checksum. Compressed chunks have other
   * places.
   */
  index(places: readonly TilePlace[] = [...this.places()]): Uint8Array {
    const { perShard } = this.#level;
    const entries = this.#bands * perShard.height * perShard.width;
    const bytes = new Uint8Array(indexBytes(entries));
    const view = new DataView(bytes.buffer);
    let at = 0;
    for (let band = 0; band < this.#bands; band++) {
      for (let y = 0; y < perShard.height; y++) {
        for (let x = 0; x < perShard.width; x++, at += 16) {
          const isThere = y < this.height && x < this.width;
          const place = isThere ? places[(band * this.height + y) * this.width + x]! : undefined;
          view.setBigUint64(at, place ? BigInt(place.offset) : absent, true);
          view.setBigUint64(at + 8, place ? BigInt(place.bytes) : absent, true);
        }
      }
    }
    view.setUint32(at, crc32c(bytes.subarray(0, at)), true);
    return bytes;
  }
}

/** The path of a shard in a Zarr at `path`. */
export function shardPath(path: string, { bands }: MapType, level: number, row: number, column: number): string {
  return join(path, String(level), 'c', ...(bands > 1 ? ['0'] : []), String(row), String(column));
}

/** 8 bytes each for the offset and the length of a chunk, and 4 for the checksum. */
const indexBytes = (entries: number): number => 16 * entries + 4;

/** A map of one band has no axis of channels, so that it is a plain image to viewers. */
const axesOf = (bands: number): { name: string; type: 'channel' | 'space' }[] => [
  ...(bands > 1 ? [{ name: 'c', type: 'channel' } as const] : []),
  { name: 'y', type: 'space' },
  { name: 'x', type: 'space' },
];

const zstd = { name: 'zstd', configuration: { level: zstdLevel, checksum: false } };

/** zarr.json of an array, whose chunks `codec` compresses. */
export function zarrArrayJson(
  { size, chunk, perShard }: ZarrLevel,
  { sample, bands }: MapType,
  { hasNoData = false, codec }: { hasNoData?: boolean | undefined; codec?: MapCodec | undefined } = {},
): string {
  const empty = hasNoData ? emptySample[sample] : 0;
  const ofBands = (count: number, height: number, width: number): number[] => [
    ...(bands > 1 ? [count] : []),
    height,
    width,
  ];
  const bytes = { name: 'bytes', configuration: { endian: 'little' } };
  return json({
    zarr_format: 3,
    node_type: 'array',
    shape: ofBands(bands, size.height, size.width),
    data_type: dataTypes[sample],
    chunk_grid: {
      name: 'regular',
      configuration: {
        chunk_shape: ofBands(bands, perShard.height * chunk.height, perShard.width * chunk.width),
      },
    },
    chunk_key_encoding: { name: 'default', configuration: { separator: '/' } },
    fill_value: Number.isNaN(empty) ? 'NaN' : empty,
    codecs: [
      {
        name: 'sharding_indexed',
        configuration: {
          chunk_shape: ofBands(1, chunk.height, chunk.width),
          codecs: codec === 'zstd' ? [bytes, zstd] : [bytes],
          index_codecs: [bytes, { name: 'crc32c' }],
          index_location: 'end',
        },
      },
    ],
    dimension_names: axesOf(bands).map(({ name }) => name),
    attributes: {},
  });
}

/**
 * zarr.json of the group: OME-Zarr 0.5. Levels are named by their number. The position of a pixel is its centre, so
 * coarser levels begin further from the edge, and every level covers the same area.
 */
export function zarrGroupJson(
  levels: number,
  bands: number,
  kind: MapKind,
  { name, description, place }: { name: string; description: string; place?: Place | undefined },
): string {
  const ofBands = (band: number, value: number): number[] => [...(bands > 1 ? [band] : []), value, value];
  const datasets = Array.from({ length: levels }, (_, level) => ({
    path: String(level),
    coordinateTransformations: [
      { type: 'scale', scale: ofBands(1, 2 ** level) },
      ...(level ? [{ type: 'translation', translation: ofBands(0, (2 ** level - 1) / 2) }] : []),
    ],
  }));
  const [type, method] =
    kind === 'labels'
      ? ['nearest', 'the upper left of 2 x 2 pixels of the level below']
      : ['mean', 'the mean of 2 x 2 pixels of the level below'];
  const multiscale = { name, axes: axesOf(bands), datasets, type, metadata: { method } };
  return json({
    zarr_format: 3,
    node_type: 'group',
    attributes: {
      ome: { version: '0.5', multiscales: [multiscale] },
      halogrid: { description },
      ...(place && placeAttributes(place)),
    },
  });
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
