import { commentAndEnd, huffmanFrames, marker } from '@halogrid/imaging/jpeg-segments';
import type { JpegBand } from './bands.ts';
import type { JpegStretches } from './stretches.ts';

/**
 * A band of a JPEG as its own file, which decodes to the band's luma. Chroma is smoothed across rows and would need the
 * rows above and below, so it is right except in the first and the last row. `head`: the file up to the beginning of
 * its data. `data`: the band's bytes. libjpeg warns about all leftover bytes in it. Throws RangeError for a band that
 * has MCUs to skip.
 */
export function bandFile(
  head: Uint8Array,
  data: Uint8Array,
  { frame, from, first, end }: JpegBand,
  { starts }: JpegStretches,
): Uint8Array {
  if (frame.skippedMcus > 0) throw new RangeError('The band begins within a stretch');
  const file = new Uint8Array(head.length + data.length + commentAndEnd.length);
  file.set(head);
  const height = placeOfHeight(head);
  file[height] = frame.height >> 8;
  file[height + 1] = frame.height & 255;
  file.set(data, head.length);
  // The numbers of restart markers begin with 0 again.
  for (let i = 1; first + i < end; i++)
    file[head.length + starts[first + i]! - from - 1] = marker.firstRestart + ((i - 1) & 7);
  file.set(commentAndEnd, head.length + data.length);
  return file;
}

/** The offset of the height in a header in which `readJpegFrame` found a frame. */
function placeOfHeight(head: Uint8Array): number {
  for (let at = 2; ; ) {
    while (head[at + 1] === 0xff) at++;
    if (huffmanFrames.includes(head[at + 1]!)) return at + 5;
    at += 2 + ((head[at + 2]! << 8) | head[at + 3]!);
  }
}
