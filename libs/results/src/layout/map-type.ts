import { type SampleType, sampleBytes } from '@halogrid/geometry';

/** What a dense result holds for every pixel: 1 … 4 bands of one sample type. */
export interface MapType {
  sample: SampleType;
  bands: number;
}

/**
 * What the numbers of a dense result mean, and with that what stands for four pixels in a coarser level of its pyramid:
 * of labels and codes, whose mean means nothing, one of the four; of values their mean.
 */
export type MapKind = 'labels' | 'values';

/** Bytes of one pixel in all its bands. */
export const bytesPerPixel = ({ sample, bands }: MapType): number => sampleBytes[sample] * bands;

export type SampleArray = Uint8Array | Uint16Array | Uint32Array | Int16Array | Float32Array;

const arrays = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i16: Int16Array, f32: Float32Array } as const;

/** The bytes as numbers, not a copy: the machines that this runs on are little-endian. `bytes` must be aligned. */
export function samplesOf(bytes: Uint8Array, sample: SampleType): SampleArray {
  return new arrays[sample](bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / sampleBytes[sample]);
}

const bits = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

/** The bytes as whole numbers as wide as a sample, to move samples bit by bit: a float that is moved may lose NaN's bits. */
export function bitsOf(bytes: Uint8Array, sample: SampleType): Uint8Array | Uint16Array | Uint32Array {
  const unit = sampleBytes[sample] as keyof typeof bits;
  return new bits[unit](bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / unit);
}
