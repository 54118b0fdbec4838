import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import type { Rect } from '../input/rect.ts';
import { type MapType, type SampleType, sampleBytes, samplesOf } from './map-type.ts';
import type { PlanarSamples } from './planar-samples.ts';
import type { Size } from './size.ts';

export const sampleTypes: readonly SampleType[] = ['u8', 'u16', 'u32', 'i16', 'f32'];

export const anyMapType: fc.Arbitrary<MapType> = fc.record({
  sample: fc.constantFrom(...sampleTypes),
  bands: fc.integer({ min: 1, max: 4 }),
});

export const anySize = (max: number): fc.Arbitrary<Size> => {
  const side = fc.integer({ min: 1, max });
  return fc.record({ width: side, height: side }, { noNullPrototype: true });
};

/** Bands one after another, without gaps; no two neighbours are equal, and floats are finite. */
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

/** The samples of `rect` within those of the whole image. */
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
 * What sharp finds in an image file, laid out as `someSamples` does. Fails where the file has other bands or samples than
 * `type`. Sharp makes negative samples 0.
 */
export async function readWithSharp(path: string, type: MapType): Promise<{ size: Size; samples: Buffer }> {
  // Not by its path, because sharp remembers what it has read there.
  const file = await readFile(path);
  const { width, height, channels, depth, space } = await sharp(file).metadata();
  if (channels !== type.bands || depth !== depths[type.sample]) throw new Error(`${channels} bands of ${depth}`);
  const size = { width, height };
  if (space === 'srgb') {
    const rgb = await sharp(file).raw().toBuffer();
    const area = width * height;
    return { size, samples: Buffer.from(rgb.map((_, i) => rgb[3 * (i % area) + Math.floor(i / area)]!)) };
  }
  const colours = sampleBytes[type.sample] === 2 ? 'grey16' : 'b-w';
  const bands = await Promise.all(
    ([0, 1, 2, 3] as const).slice(0, type.bands).map((band) => {
      return sharp(file).extractChannel(band).toColourspace(colours).raw({ depth }).toBuffer();
    }),
  );
  return { size, samples: Buffer.concat(bands) };
}

/** What `readWithSharp` gives for samples that are in the file. */
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
