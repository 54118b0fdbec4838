// What computes queries, apart from the rest: it loads decoders and kernels.
export { openPixels, type PixelSource } from './pixel-source.ts';
export { regionHistogram } from './region-histogram.ts';
