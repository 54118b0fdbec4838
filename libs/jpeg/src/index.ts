export type { JpegFrame } from './frame/jpeg-frame.ts';
export { readJpegFrame } from './frame/read-frame.ts';
export { isFine, status } from './frame/status.ts';
export { decodeTwin } from './twin/decode-twin.ts';
