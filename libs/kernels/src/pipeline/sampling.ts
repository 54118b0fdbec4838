import { type Sampling, takeSamples } from '@halogrid/geometry';
import type { DenseResult } from '../kernel/plane-item.ts';

/**
 * The sampled pixels of a dense result with `bands` bands of samples of `unit` bytes, in rows and bands without gaps.
 */
export function sampleResult(
  { bytes, stride, bandBytes }: DenseResult,
  sampling: Sampling,
  unit: number,
  bands: number,
): DenseResult {
  const rowBytes = sampling.width * unit;
  const sampled = takeSamples({ bytes, strideBytes: stride, bandBytes }, sampling, unit, bands);
  return { bytes: sampled, stride: rowBytes, bandBytes: rowBytes * sampling.height };
}
