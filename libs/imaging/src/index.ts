// Input: sources and their pixels.
export { InputError } from './input/input-error.ts';
export { decodeJpeg } from './input/jpeg.ts';
export { type OpenImage, type OpenImageOptions, openImage } from './input/open-image.ts';
export { mostPixels, peekSize } from './input/peek-size.ts';
export type { PlaneTarget } from './input/plane-target.ts';
export type { Rect } from './input/rect.ts';
export { remoteVersion } from './input/remote/probe.ts';
export { isRemoteUri } from './input/remote/remote-uri.ts';
export { SourceUriError } from './input/source-uri-error.ts';
export { shortVersion, sourceVersion } from './input/source-version.ts';
export { checkHasSource, listAllSources, listSources, type Source, SourceNotFoundError } from './input/sources.ts';
export { checkSourceUri, toFileUri, toUri } from './input/to-uri.ts';

// Output: chunks of dense results, and the files a person opens.
export { assembleMap, type MapFormat, type MapOutput, mapExtensions, whyNotHeld } from './output/assemble-map.ts';
export { type Chunk, type ChunkKind, writeChunk } from './output/chunk.ts';
export { type HistogramChart, histogramSvg } from './output/histogram-svg.ts';
export { type MapKind, type MapType, type SampleType, sampleBytes } from './output/map-type.ts';
export type { PlanarSamples } from './output/planar-samples.ts';
export { assemblePreview, type PreviewOutput } from './output/preview.ts';
export type { Size } from './output/size.ts';
export { writeFileAtomically } from './output/write-file-atomically.ts';
export { writeJpeg } from './output/write-jpeg.ts';
