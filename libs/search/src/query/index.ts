// Computes queries. It is apart from the rest because it loads decoders and kernels.
export { openPixels, type PixelSource } from './pixel-source.ts';
export { regionHistogram } from './region-histogram.ts';
