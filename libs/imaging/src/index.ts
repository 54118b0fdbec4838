// Access: what this process may read and write for jobs.
export { allowedPath } from './access/allowed-path.ts';
export { redactUri } from './access/redact-uri.ts';
export {
  restrictSources,
  type SourceAccess,
  SourceForbiddenError,
  sourceAccess,
  unrestricted,
} from './access/source-access.ts';
export { atMost } from './at-most.ts';
export { endThread, endWhenAsked } from './end-thread.ts';

// Input: sources and their pixels.
export { charactersOfBraces } from './input/expand-braces.ts';
export { versionOfContent } from './input/file-identity.ts';
export { hasImageExtension } from './input/image-extensions.ts';
export { changedInput, InputError, type InputFault } from './input/input-error.ts';
export { decodeJpeg } from './input/jpeg.ts';
export { localVersion } from './input/local-file.ts';
export { MissingDecoderError } from './input/missing-decoder-error.ts';
export { missingDecoders } from './input/missing-decoders.ts';
export { type OpenImage, type OpenImageOptions, openImage } from './input/open-image.ts';
export { mostPixels, peekSize } from './input/peek-size.ts';
export { defaultMaxWholePixels } from './input/pixel-limit.ts';
export { type PixelType, pixelBytes } from './input/pixel-type.ts';
export type { PlaneTarget } from './input/plane-target.ts';
export type { Rect } from './input/rect.ts';
export { remoteVersion } from './input/remote/probe.ts';
export { isRemoteUri } from './input/remote/remote-uri.ts';
export { type ShownFile, showFile } from './input/show-file.ts';
export { SourceUriError } from './input/source-uri-error.ts';
export {
  checkHasSource,
  type LeftOut,
  listAllSources,
  listSources,
  type Source,
  SourceNotFoundError,
} from './input/sources.ts';
export { imageOpener } from './input/threads/image-opener.ts';
export { checkSourceUri, toFileUri, toUri } from './input/to-uri.ts';
export { Turns } from './input/turns.ts';
export { DecoderBrokeError } from './input/video/decoder-broke-error.ts';
export { checkFfmpeg } from './input/video/ffmpeg.ts';
export { type PlannedFrame, planVideo, type VideoPart, type VideoSegment } from './input/video/plan-video.ts';
export { SegmentDecoder, type SegmentEvent } from './input/video/video-child.ts';
export { changedVideo, openVideoFile, type VideoFile } from './input/video/video-file.ts';
export { hasVideoExtension, isVideoFile } from './input/video/video-names.ts';

// Output: chunks of dense results, and the files a person opens.
export { assembleMap, type MapOutput } from './output/assemble-map.ts';
export { type Chunk, type ChunkKind, piecesOf, writeChunk } from './output/chunk.ts';
export { type HistogramChart, histogramSvg } from './output/histogram-svg.ts';
export { type MapFormat, mapExtensions, whyNotHeld } from './output/map-format.ts';
export { type MapKind, type MapType, type SampleType, sampleBytes } from './output/map-type.ts';
export { type PlanarSamples, samplesOfPart } from './output/planar-samples.ts';
export { assemblePreview, type PreviewOutput } from './output/preview.ts';
export { previewSampling } from './output/preview-grid.ts';
export type { Size } from './output/size.ts';
export { freeBytes, tryWrite } from './output/try-write.ts';
export { writeFileAtomically } from './output/write-file-atomically.ts';
export { writeJpeg } from './output/write-jpeg.ts';
