import { marker } from './markers.ts';
import { nextMarker } from './next-marker.ts';

/** Larger files have so many restart markers that libjpeg looks for the next one soon enough. */
const mostBytes = 2 ** 24;

/** A comment without a text, and the end of the image. */
export const commentAndEnd: Uint8Array = Uint8Array.of(0xff, marker.com, 0, 2, 0xff, marker.endOfImage);

/**
 * Adds a comment before the end of a JPEG with restart markers; undefined for any other file. libjpeg warns of leftover
 * bytes before a restart marker only when it next looks for a marker, which may never happen. The comment makes it
 * look for one.
 */
export function withCommentAtEnd(jpeg: Uint8Array): Uint8Array | undefined {
  if (jpeg.length > mostBytes) return undefined;
  let restartMcus = 0;
  let at = 2;
  for (let code = 0; code !== marker.startOfScan; ) {
    const found = nextMarker(jpeg, at);
    if (!found || found.code === marker.endOfImage) return undefined;
    code = found.code;
    const { end } = found;
    if (code === marker.dri) restartMcus = (jpeg[end + 2]! << 8) | jpeg[end + 3]!;
    at = end + ((jpeg[end]! << 8) | jpeg[end + 1]!);
  }
  const bytes = Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length);
  const end = restartMcus === 0 ? -1 : bytes.indexOf(commentAndEnd.subarray(-2), at);
  return end < 0 ? undefined : Buffer.concat([bytes.subarray(0, end), commentAndEnd]);
}
