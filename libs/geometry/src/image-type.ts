/** Type of a sample of a dense result. */
export type SampleType = 'u8' | 'u16' | 'u32' | 'i16' | 'f32';

/** Type of a pixel that a kernel reads. */
export type PixelType = Extract<SampleType, 'u8' | 'u16'>;

/** The layout of an image or a dense result: planes with samples of one type, one plane per named channel. */
export interface ImageType {
  readonly sample: SampleType;
  readonly channels: readonly string[];
}

export const gray = ['gray'] as const;
export const rgb = ['red', 'green', 'blue'] as const;

export const sampleBytes: Readonly<Record<SampleType, number>> = { u8: 1, u16: 2, u32: 4, i16: 2, f32: 4 };

/** The greatest value of a pixel. */
export const greatest: Readonly<Record<PixelType, number>> = { u8: 255, u16: 65_535 };

/**
 * The sample of a dense result at a pixel that does not count: 0 among codes; among signed and real numbers the sample
 * that stands for no value.
 */
export const emptySample: Readonly<Record<SampleType, number>> = {
  u8: 0,
  u16: 0,
  u32: 0,
  i16: -32_768,
  f32: Number.NaN,
};

/** Samples of a dense result in memory. */
export type MapSamples =
  | Uint8Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int16Array<ArrayBuffer>
  | Float32Array<ArrayBuffer>;

/** `length` samples that are 0. */
export const createSamples = (sample: SampleType, length: number): MapSamples =>
  viewSamples(sample, new ArrayBuffer(length * sampleBytes[sample]), 0, length);

/** `length` samples of a buffer from byte `at` on, a multiple of their size. */
export function viewSamples(sample: SampleType, buffer: ArrayBuffer, at: number, length: number): MapSamples {
  switch (sample) {
    case 'u8':
      return new Uint8Array(buffer, at, length);
    case 'u16':
      return new Uint16Array(buffer, at, length);
    case 'u32':
      return new Uint32Array(buffer, at, length);
    case 'i16':
      return new Int16Array(buffer, at, length);
    case 'f32':
      return new Float32Array(buffer, at, length);
  }
}
