/** Type of a sample of a dense result. */
export type SampleType = 'u8' | 'u16' | 'u32' | 'i16' | 'f32';

/** What an image or a dense result is made of: planes of one type, one after another, a name each. */
export interface ImageType {
  readonly sample: SampleType;
  readonly channels: readonly string[];
}

export const gray = ['gray'] as const;
export const rgb = ['red', 'green', 'blue'] as const;

export const sampleBytes: Readonly<Record<SampleType, number>> = { u8: 1, u16: 2, u32: 4, i16: 2, f32: 4 };
