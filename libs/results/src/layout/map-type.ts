import { type SampleType, sampleBytes } from '@halogrid/geometry';

/** What a map holds for every pixel: 1 to 4 bands of one sample type. */
export interface MapType {
  sample: SampleType;
  bands: number;
}

/**
 * What the numbers of a map mean. It decides what stands for four pixels in a coarser level of the pyramid: one of the
 * four for labels and codes, because their mean means nothing, and the mean for values.
 */
export type MapKind = 'labels' | 'values';

/** Bytes of one pixel in all its bands. */
export const bytesPerPixel = ({ sample, bands }: MapType): number => sampleBytes[sample] * bands;

export type SampleArray = Uint8Array | Uint16Array | Uint32Array | Int16Array | Float32Array;

const arrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i16: Int16Array, f32: Float32Array } as const;

/** The bytes as numbers, as a view: Node runs only on little-endian machines. `bytes` must be aligned to the sample. */
export function samplesOf(bytes: Uint8Array, sample: SampleType): SampleArray {
  return new arrays[sample](bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / sampleBytes[sample]);
}

const bits = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

/**
 * The bytes as whole numbers as wide as a sample, to copy samples exactly: copying a NaN as a float may change its
 * bits.
 */
export function bitsOf(bytes: Uint8Array, sample: SampleType): Uint8Array | Uint16Array | Uint32Array {
  const unit = sampleBytes[sample] as keyof typeof bits;
  return new bits[unit](bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / unit);
}
