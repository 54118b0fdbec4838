/** What the metadata of a Zarr array says of it. */
export interface ArrayForm {
  /** The version of the format. */
  format: 2 | 3;
  shape: readonly number[];
  /** The shape of what is decoded at once: a chunk, or a chunk inside a shard. */
  chunk: readonly number[];
  /** How files with several chunks are made; absent if each chunk is a file. */
  shard?: ShardForm;
  /** What the name of a chunk's file begins with, and what is between its numbers. */
  keys: { prefix: readonly string[]; separator: '.' | '/' };
  pixel: 'u8' | 'u16';
  /** The samples of chunks that are missing. */
  fill: number;
  /** Names of the axes, if the array itself names them. */
  axes?: readonly string[];
}

/** A shard: a file of chunks and their index. */
export interface ShardForm {
  shape: readonly number[];
  /** Whether a CRC-32C is behind the index. */
  hasChecksum: boolean;
  /** Whether the index is at the beginning, and not at the end. */
  isIndexFirst: boolean;
}

/** The path of the file with the chunk, or the shard, of that number along each axis, beside the metadata. */
export const chunkKey = ({ keys: { prefix, separator } }: ArrayForm, numbers: readonly number[]): string =>
  [...prefix, ...numbers].join(separator);

/** The most decoded bytes of a chunk: a chunk of many planes is decoded for each of them. */
export const maxChunkBytes = 2 ** 27;
/** The most chunks of a shard; its index, of 16 bytes a chunk, is in memory. */
const maxShardChunks = 2 ** 18;
/** A plane of more chunks than this must have chunks of at least so many pixels: each chunk costs a read. */
const manyChunks = 2 ** 20;
const leastChunkPixels = 256;
const maxAxes = 16;

const codecNames: ReadonlySet<string> = new Set(['blosc', 'zstd', 'gzip', 'zlib', 'lz4', 'crc32c']);
const readCodecs = 'Blosc, Zstandard, gzip, zlib, LZ4 and uncompressed chunks are read';

/** Reads the metadata of an array, as its JSON has it. Returns a sentence if the array cannot be read. */
export function arrayForm(metadata: unknown): ArrayForm | string {
  if (!isRecord(metadata)) return 'The metadata of the Zarr array is not an object';
  const format = metadata.zarr_format;
  if (format !== 2 && format !== 3) return `The Zarr array has the format '${shown(format)}': 2 and 3 are read`;
  const found = format === 2 ? formOfV2(metadata) : formOfV3(metadata);
  return typeof found === 'string' ? found : (whyNotRead(found) ?? found);
}

function formOfV2(metadata: Record<string, unknown>): ArrayForm | string {
  const { shape, chunks, dtype, compressor, filters, order, dimension_separator: separator = '.' } = metadata;
  if (!areSizes(shape)) return noSizes('shape', shape);
  if (!areSizes(chunks) || chunks.length !== shape.length) return noSizes('chunks', chunks);
  const pixel = ({ u1: 'u8', u2: 'u16' } as const)[/^[<>|](u[12])$/.exec(String(dtype))?.[1] ?? ''];
  if (!pixel) return otherType(dtype);
  if (order !== 'C' && order !== 'F') return `The Zarr array has the order '${shown(order)}': C and F are read`;
  if (separator !== '.' && separator !== '/') return otherSeparator(separator);
  const steps = [...(Array.isArray(filters) ? filters : []), ...(compressor ? [compressor] : [])];
  const others = steps.map((step) => (isRecord(step) ? step.id : step)).filter((id) => !isCodec(id));
  if (others.length > 0) return otherCodec(others[0]);
  const keys = { prefix: [], separator } as const;
  return withFill({ format: 2, shape, chunk: chunks, pixel, keys }, metadata.fill_value ?? 0);
}

function formOfV3(metadata: Record<string, unknown>): ArrayForm | string {
  const { node_type: type, shape, data_type: dataType, storage_transformers: transformers = [] } = metadata;
  if (type !== 'array') return `The metadata is that of a Zarr ${shown(type)}, not of an array`;
  if (!areSizes(shape)) return noSizes('shape', shape);
  const grid = configuration(metadata.chunk_grid, 'regular');
  if (!grid) return `The Zarr array has the chunk grid '${shown(nameOf(metadata.chunk_grid))}': 'regular' is read`;
  const { chunk_shape: outer } = grid;
  if (!areSizes(outer) || outer.length !== shape.length) return noSizes('chunk_shape', outer);
  const pixel = ({ uint8: 'u8', uint16: 'u16' } as const)[String(dataType)];
  if (!pixel) return otherType(isRecord(dataType) ? dataType.name : dataType);
  const keys = keysOf(metadata.chunk_key_encoding);
  if (typeof keys === 'string') return keys;
  if (!Array.isArray(transformers) || transformers.length > 0)
    return 'The Zarr array has storage transformers, which are not read';
  const codecs = codecsOf(metadata.codecs, outer);
  if (typeof codecs === 'string') return codecs;
  const names = metadata.dimension_names;
  const axes = Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : undefined;
  const form = { format: 3, shape, ...codecs, pixel, keys, ...(axes?.length === shape.length && { axes }) } as const;
  return withFill(form, metadata.fill_value);
}

function keysOf(encoding: unknown): ArrayForm['keys'] | string {
  const isNewer = nameOf(encoding) === 'default';
  if (!isNewer && nameOf(encoding) !== 'v2') {
    return `The Zarr array names its chunks by '${shown(nameOf(encoding))}': 'default' and 'v2' are read`;
  }
  const { separator = isNewer ? '/' : '.' } = configuration(encoding, isNewer ? 'default' : 'v2')!;
  if (separator !== '.' && separator !== '/') return otherSeparator(separator);
  return { prefix: isNewer ? ['c'] : [], separator };
}

/** What is decoded at once, by the codecs; a sentence if one is not read. */
function codecsOf(codecs: unknown, outer: readonly number[]): Pick<ArrayForm, 'chunk' | 'shard'> | string {
  if (!Array.isArray(codecs)) return 'The metadata of the Zarr array lists no codecs';
  const sharding = codecs.find((codec) => nameOf(codec) === 'sharding_indexed');
  if (!sharding) return otherOf(codecs, outer.length) ?? { chunk: outer };
  const inner = configuration(sharding, 'sharding_indexed')!;
  if (codecs.length > 1)
    return 'The shards of the Zarr array go through more codecs than sharding_indexed, which is not read';
  const { chunk_shape: chunk, index_location: place = 'end', codecs: ofChunks, index_codecs: ofIndex } = inner;
  if (!areSizes(chunk) || chunk.length !== outer.length) return noSizes('chunk_shape of sharding_indexed', chunk);
  if (place !== 'end' && place !== 'start') {
    return `The shards of the Zarr array have their index at the '${shown(place)}': 'end' and 'start' are read`;
  }
  if (outer.some((size, i) => size % chunk[i]! !== 0)) {
    return `Shards of ${outer.join('x')} cannot be cut into chunks of ${chunk.join('x')}`;
  }
  if (!Array.isArray(ofChunks) || !Array.isArray(ofIndex))
    return 'The metadata of the Zarr array lists no codecs of its shards';
  const isRead = (codec: unknown): boolean =>
    nameOf(codec) === 'crc32c' ||
    (nameOf(codec) === 'bytes' &&
      ['little', undefined].includes(configuration(codec, 'bytes')?.endian as string | undefined));
  const other = ofIndex.find((codec) => !isRead(codec));
  if (other !== undefined)
    return `The index of the Zarr array's shards goes through ${shown(other)}: crc32c and bytes of the order little are read`;
  const chunks = product(outer) / product(chunk);
  if (chunks > maxShardChunks)
    return `A shard of the Zarr array has ${chunks} chunks: at most ${maxShardChunks} are read`;
  const hasChecksum = ofIndex.some((codec) => nameOf(codec) === 'crc32c');
  return (
    otherOf(ofChunks, outer.length) ?? { chunk, shard: { shape: outer, hasChecksum, isIndexFirst: place === 'start' } }
  );
}

/** A sentence about the first codec that is not read. */
function otherOf(codecs: readonly unknown[], axes: number): string | undefined {
  for (const codec of codecs) {
    const name = nameOf(codec);
    if (name === 'transpose') {
      const { order } = configuration(codec, 'transpose')!;
      const isOrder =
        Array.isArray(order) && order.length === axes && order.toSorted((a, b) => a - b).every((axis, i) => axis === i);
      if (!isOrder) return `The Zarr array is transposed by '${shown(order)}', which is not an order of its axes`;
    } else if (name === 'bytes') {
      const { endian = 'little' } = configuration(codec, 'bytes')!;
      if (endian !== 'little' && endian !== 'big')
        return `The Zarr array has the byte order '${shown(endian)}': little and big are read`;
    } else if (!isCodec(name)) return otherCodec(name);
  }
  return undefined;
}

function withFill(form: Omit<ArrayForm, 'fill'>, fill: unknown): ArrayForm | string {
  const most = form.pixel === 'u8' ? 255 : 65535;
  const isSample = Number.isInteger(fill) && (fill as number) >= 0 && (fill as number) <= most;
  return isSample
    ? { ...form, fill: fill as number }
    : `The Zarr array has the fill value '${shown(fill)}', which is not a sample from 0 to ${most}`;
}

/** A sentence about sizes that would take too much memory, or too many reads. */
function whyNotRead({ shape, chunk, pixel }: ArrayForm): string | undefined {
  const cut = chunk.join('x');
  const bytes = product(chunk) * (pixel === 'u8' ? 1 : 2);
  if (bytes > maxChunkBytes) return `A chunk of ${cut} takes ${bytes} bytes: at most ${maxChunkBytes} are read`;
  const [height, width] = shape.slice(-2) as [number, number];
  const [rows, columns] = chunk.slice(-2) as [number, number];
  const chunks = Math.ceil(height / rows) * Math.ceil(width / columns);
  if (chunks > manyChunks && rows * columns < leastChunkPixels) {
    return `A plane of ${width}x${height} pixels is cut into ${chunks} chunks of ${columns}x${rows}: of more than ${manyChunks}, each must have ${leastChunkPixels} pixels`;
  }
  return undefined;
}

const isCodec = (name: unknown): boolean => codecNames.has(String(name).replace(/^numcodecs\./, ''));
const isRecord = (value: unknown): value is Record<string, unknown> => value instanceof Object && !Array.isArray(value);
const nameOf = (value: unknown): unknown => (isRecord(value) ? value.name : value);
const product = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size, 1);

/** The configuration of what has that name, which may be left out; undefined for another name. */
function configuration(value: unknown, name: string): Record<string, unknown> | undefined {
  if (nameOf(value) !== name) return undefined;
  return isRecord(value) && isRecord(value.configuration) ? value.configuration : {};
}

const areSizes = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length >= 2 &&
  value.length <= maxAxes &&
  value.every((size) => Number.isSafeInteger(size) && size > 0);

const noSizes = (field: string, value: unknown): string =>
  `The Zarr array has '${shown(value)}' as its ${field}: expected a positive integer for each of 2 to ${maxAxes} axes`;
const otherType = (type: unknown): string =>
  `The Zarr array has samples of the type '${shown(type)}': uint8 and uint16 are read`;
const otherSeparator = (separator: unknown): string =>
  `The Zarr array separates the numbers of its chunks by '${shown(separator)}': '.' and '/' are read`;
const otherCodec = (name: unknown): string => `The Zarr array is compressed by '${shown(name)}': ${readCodecs}`;

const shown = (value: unknown): string =>
  String(typeof value === 'object' ? JSON.stringify(value) : value).slice(0, 60);
