import { mostEntries } from '../frame/entry.ts';
import { type JpegFrame, lumaBlocks } from '../frame/jpeg-frame.ts';
import { isFine, status } from '../frame/status.ts';
import { destuff } from './destuff.ts';
import { placeChunks } from './place.ts';
import { synchronise } from './synchronise.ts';
import { createCoefficients, writeEntries } from './write-entries.ts';
import { writePixels } from './write-pixels.ts';

/** What a device makes of a file. */
export interface DecodedLuma {
  /** See `status`. */
  status: number;
  /** Rows without gaps; they mean nothing where the status is not fine. */
  luma: Uint8Array;
}

/**
 * Decodes the luma of a JPEG step by step as devices do it, in plain TypeScript: what they must return. `jpeg` is the whole file, `frame`
 * what its header says.
 */
export function decodeTwin(jpeg: Uint8Array, frame: JpegFrame): DecodedLuma {
  const data = jpeg.subarray(frame.dataStart);
  const luma = new Uint8Array(frame.width * frame.height);
  const { chunks, last } = destuff(data);
  // Data that nothing ends is cut off.
  if (last < 0) return { status: status.outOfOrder, luma };
  const live = chunks.slice(0, last + 1);
  const { decoded, settled } = synchronise(frame, live);
  if (!settled) return { status: status.unsettled, luma };
  const places = placeChunks(decoded.map(({ counts }) => counts));
  const into = createCoefficients(frame, mostEntries(data.length, lumaBlocks(frame)));
  let found = 0;
  for (const [i, chunk] of live.entries()) found |= writeEntries(frame, chunk, decoded[i]!.entry, places[i]!, into);
  if (isFine(found)) found |= writePixels(frame, into, luma);
  return { status: found, luma };
}
