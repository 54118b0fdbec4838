export { JpegFrameReader } from './frame/frame-reader.ts';
export type { JpegFrame } from './frame/jpeg-frame.ts';
export { readJpegFrame } from './frame/read-frame.ts';
export { isFine, status } from './frame/status.ts';
export { type JpegBatchLayout, type JpegFile, type JpegPlane, layOutJpegs, placePlane } from './gpu/batch-layout.ts';
export { type JpegBuffers, JpegDecoder, type JpegStage } from './gpu/jpeg-decoder.ts';
export { JpegScratch } from './gpu/jpeg-scratch.ts';
export { type DecodedLuma, decodeTwin } from './twin/decode-twin.ts';
