import type { JpegChunk } from '../frame/chunk.ts';
import { mostEntries } from '../frame/entry.ts';
import { type JpegFrame, lumaBlocks } from '../frame/jpeg-frame.ts';
import { isFine, status } from '../frame/status.ts';
import type { ChunkCounts } from './decode-chunk.ts';
import { destuff } from './destuff.ts';
import { placeChunks } from './place.ts';
import { type DecodedChunk, synchronise } from './synchronise.ts';
import { type Coefficients, createCoefficients, writeEntries } from './write-entries.ts';
import { writePixels } from './write-pixels.ts';

/** The result of decoding the luma of a file. */
export interface DecodedLuma {
  /** See `status`. */
  status: number;
  /** Rows without gaps; without meaning unless the status is fine. */
  luma: Uint8Array;
}

/** The data between the steps. */
export interface TwinSteps extends DecodedLuma {
  chunks: readonly JpegChunk[];
  /** The content of the chunks, up to the one in which the data ends, or of all. */
  decoded: readonly DecodedChunk[];
  places: readonly ChunkCounts[];
  coefficients: Coefficients;
}

/**
 * Decodes the luma of a JPEG step by step as devices do, in plain TypeScript. Devices must return the same. `jpeg`: the
 * whole file; `frame`: its header.
 */
export function decodeTwin(jpeg: Uint8Array, frame: JpegFrame): TwinSteps {
  const data = jpeg.subarray(frame.dataStart);
  const { chunks, last } = destuff(data);
  const live = last < 0 ? chunks : chunks.slice(0, last + 1);
  const { decoded, settled } = synchronise(frame, live);
  const places = placeChunks(decoded.map(({ counts }) => counts));
  const coefficients = createCoefficients(frame, mostEntries(data.length, lumaBlocks(frame)));
  const luma = new Uint8Array(frame.width * frame.height);
  let found = settled ? 0 : status.unsettled;
  for (const [i, chunk] of live.entries()) {
    found |= writeEntries(frame, chunk, decoded[i]!.entry, places[i]!, coefficients);
  }
  // A device transforms all files, but ignores what that finds in files already in doubt.
  if (isFine(found)) found |= writePixels(frame, coefficients, luma);
  return { status: found, luma, chunks, decoded, places, coefficients };
}
