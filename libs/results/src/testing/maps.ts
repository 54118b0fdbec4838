import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rect, type SampleType, type Size, sampleBytes } from '@halogrid/geometry';
import fc from 'fast-check';
import sharp from 'sharp';
import * as zarr from 'zarrita';
import type { PlanarSamples } from '../chunks/planar-samples.ts';
import { type MapKind, type MapType, samplesOf } from '../layout/map-type.ts';

export const sampleTypes: readonly SampleType[] = ['u8', 'u16', 'u32', 'i16', 'f32'];

export const anyMapType: fc.Arbitrary<MapType> = fc.record({
  sample: fc.constantFrom(...sampleTypes),
  bands: fc.integer({ min: 1, max: 4 }),
});

export const anySize = (max: number): fc.Arbitrary<Size> => {
  const side = fc.integer({ min: 1, max });
  return fc.record({ width: side, height: side }, { noNullPrototype: true });
};

/** Some samples, bands one after another, without gaps. No two neighbours are equal, and floats are finite. */
export function someSamples(size: Size, { sample, bands }: MapType): Uint8Array {
  const count = size.width * size.height * bands;
  const bytes = new Uint8Array(count * sampleBytes[sample]);
  const samples = samplesOf(bytes, sample);
  for (let i = 0; i < count; i++) {
    const hash = Math.imul(i + 1, 0x9e3779b1) >>> 0;
    samples[i] =
      sample === 'f32' ? hash / 1000 - 2e6 : sample === 'u32' ? hash : hash >>> (32 - 8 * sampleBytes[sample]);
  }
  return bytes;
}

/** Half of a map as the documentation defines it, pixel by pixel. */
export function halfByDefinition(map: Uint8Array, size: Size, { sample, bands }: MapType, kind: MapKind): Uint8Array {
  const samples = samplesOf(map, sample);
  const [width, height] = [Math.ceil(size.width / 2), Math.ceil(size.height / 2)];
  const half = new Uint8Array(width * height * bands * sampleBytes[sample]);
  const result = samplesOf(half, sample);
  for (let i = 0; i < result.length; i++) {
    const [x, y, band] = [i % width, Math.floor(i / width) % height, Math.floor(i / width / height)];
    const at = (right: number, down: number): number => {
      const [column, row] = [Math.min(2 * x + right, size.width - 1), Math.min(2 * y + down, size.height - 1)];
      return samples[(band * size.height + row) * size.width + column]!;
    };
    const four = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)] as const;
    const mean = (four[0] + four[1] + (four[2] + four[3])) / 4;
    if (kind === 'labels') result[i] = four[0];
    // It stands for no value.
    else if (sample === 'i16' && four.includes(-32768)) result[i] = -32768;
    else if (sample === 'f32') result[i] = Math.fround(mean);
    else if (mean - Math.floor(mean) === 0.5) result[i] = 2 * Math.round(mean / 2);
    else result[i] = Math.round(mean);
  }
  return half;
}

/** A map and its coarser levels of these sizes. */
export function levelsByDefinition(
  map: Uint8Array,
  sizes: readonly Size[],
  type: MapType,
  kind: MapKind,
): Uint8Array[] {
  const levels = [map];
  for (const size of sizes.slice(0, -1)) levels.push(halfByDefinition(levels.at(-1)!, size, type, kind));
  return levels;
}

/** Copies rows of a map to a strip, as `buildPyramid` asks for them. */
export function copyStrip(
  map: Uint8Array,
  size: Size,
  { sample, bands }: MapType,
  y: number,
  rows: number,
  strip: Uint8Array,
): void {
  const rowBytes = size.width * sampleBytes[sample];
  for (let band = 0; band < bands; band++) {
    const from = (band * size.height + y) * rowBytes;
    strip.set(map.subarray(from, from + rows * rowBytes), band * rows * rowBytes);
  }
}

/** Reads every level of a Zarr group with another implementation. Samples are laid out as in `someSamples`. */
export async function readZarr(path: string, levels: number) {
  const root = zarr.root(folderStore(path));
  const { attrs } = await zarr.open.v3(root, { kind: 'group' });
  const arrays = [];
  for (let level = 0; level < levels; level++) {
    const array = await zarr.open.v3(root.resolve(String(level)), { kind: 'array' });
    const { data } = await zarr.get(array);
    const { buffer, byteOffset, byteLength } = data as Uint8Array;
    arrays.push({ array, samples: new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength) });
  }
  return { attrs, arrays };
}

/** The files of a folder in the form that zarrita reads. */
function folderStore(folder: string): zarr.AsyncReadable {
  const ifThere = async <Result>(reading: Promise<Result>): Promise<Result | undefined> =>
    reading.catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
  return {
    get: (key) => ifThere(readFile(join(folder, key))),
    getRange: (key, range) => ifThere(readRange(join(folder, key), range)),
  };
}

async function readRange(path: string, range: zarr.RangeQuery): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const isSuffix = 'suffixLength' in range;
    const bytes = new Uint8Array(isSuffix ? range.suffixLength : range.length);
    const from = isSuffix ? (await file.stat()).size - bytes.length : range.offset;
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
    if (bytesRead < bytes.length) throw new Error(`'${path}' has no ${bytes.length} bytes from ${from} on`);
    return bytes;
  } finally {
    await file.close();
  }
}

/** The samples of `rect`, as a view of the samples of the whole image. */
export function within(samples: Uint8Array, size: Size, { sample }: MapType, { x, y }: Rect): PlanarSamples {
  const unit = sampleBytes[sample];
  const strideBytes = size.width * unit;
  return { bytes: samples.subarray(y * strideBytes + x * unit), strideBytes, bandBytes: size.height * strideBytes };
}

/** Tiles of at most `tilePx` a side, row by row. */
export function cut({ width, height }: Size, tilePx: number): Rect[] {
  const rects: Rect[] = [];
  for (let y = 0; y < height; y += tilePx) {
    for (let x = 0; x < width; x += tilePx) {
      rects.push({ x, y, width: Math.min(tilePx, width - x), height: Math.min(tilePx, height - y) });
    }
  }
  return rects;
}

const depths = { u8: 'uchar', u16: 'ushort', u32: 'uint', i16: 'short', f32: 'float' } as const;

/**
 * The samples that sharp reads from a page of an image file, laid out as in `someSamples`. Rejects if the file has
 * other bands or samples than `type`. Sharp makes negative samples 0.
 */
export async function readWithSharp(path: string, type: MapType, page = 0): Promise<{ size: Size; samples: Buffer }> {
  // Sharp does not get the path, because it remembers what it has read from a path.
  const file = await readFile(path);
  const options = page > 0 ? { page } : {};
  const { width, height, channels, depth, space } = await sharp(file, options).metadata();
  if (channels !== type.bands || depth !== depths[type.sample]) throw new Error(`${channels} bands of ${depth}`);
  const size = { width, height };
  if (space === 'srgb') {
    const rgb = await sharp(file, options).raw().toBuffer();
    const area = width * height;
    return { size, samples: Buffer.from(rgb.map((_, i) => rgb[3 * (i % area) + Math.floor(i / area)]!)) };
  }
  const colours = sampleBytes[type.sample] === 2 ? 'grey16' : 'b-w';
  const bands = await Promise.all(
    ([0, 1, 2, 3] as const).slice(0, type.bands).map((band) => {
      return sharp(file, options).extractChannel(band).toColourspace(colours).raw({ depth }).toBuffer();
    }),
  );
  return { size, samples: Buffer.concat(bands) };
}

/** The result of `readWithSharp` for a file with these samples. */
export function asSharpReads(samples: Uint8Array, { sample }: MapType): Uint8Array {
  if (sample !== 'i16') return samples;
  const positive = (samplesOf(samples, sample) as Int16Array).map((value) => Math.max(0, value));
  return new Uint8Array(positive.buffer);
}

export async function temporaryFolder(t: { after(act: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-output-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
