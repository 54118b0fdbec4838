import type { SampleRange } from '../../planes/image.ts';
import type { TiffLayout } from './tiff-layout.ts';

/** The values that samples can have. */
export function rangeOfSamples({ kind, bits }: Pick<TiffLayout, 'kind' | 'bits'>): SampleRange {
  if (kind === 'float') return { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY, isReal: true };
  const least = kind === 'signed' ? -(2 ** (bits - 1)) : 0;
  return { least, most: least + 2 ** bits - 1, isReal: false };
}
