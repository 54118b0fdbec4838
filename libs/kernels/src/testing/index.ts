// Shared by tests of kernels and devices.
export type { MapSamples } from '@halogrid/geometry';
export { countSamples } from './count-samples.ts';
export { noise, noiseFor, noiseImage, type TestImage } from './noise.ts';
export { createPipelineOver, samplesOf, staged, stageTile } from './staged.ts';
export { tileArbitrary } from './tile-arbitrary.ts';
export { verifyBins } from './verify-bins.ts';
export { verifySamples } from './verify-samples.ts';
