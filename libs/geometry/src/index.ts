// A separate library, so that a change of a kernel does not affect readers of images.
export {
  addBits,
  anyInSquare,
  type BitPlane,
  countBits,
  createBitPlane,
  cropBits,
  hasBit,
  isBlank,
  setBit,
} from './bit-plane.ts';
export {
  createSamples,
  emptySample,
  gray,
  greatest,
  type ImageType,
  type MapSamples,
  type PixelType,
  rgb,
  type SampleType,
  sampleBytes,
  viewSamples,
} from './image-type.ts';
export { splitRgb, writeLuma } from './interleaved.ts';
export { intersect, type Rect, type Size } from './rect.ts';
export { type PlanarLayout, type Sampling, takeSamples } from './sampling.ts';
