import { crc32 } from 'node:zlib';
import { IndexError } from './index-error.ts';
import type { Segment } from './manifest.ts';

/** What is known of each frame of a segment, besides its histograms. Times are milliseconds, NaN if not known. */
export interface RowColumns {
  /** Since 1970 in UTC. */
  readonly capturedAtMs: Float64Array;
  /** Since the start of the source. */
  readonly timestampMs: Float64Array;
  /** The sum of all counts of each cell; the cells of a frame one after another. */
  readonly masses: Float64Array;
  /** Numbers of texts: the URI, and the camera, or `noText`. */
  readonly source: Uint32Array;
  readonly camera: Uint32Array;
  /** Index of the frame in its source. */
  readonly frame: Uint32Array;
  /** Where each text ends in `textBytes`. */
  readonly textEnds: Uint32Array;
  readonly textBytes: Uint8Array;
}

export const noText = 2 ** 32 - 1;

/**
 * The columns as NAME.rows has them, one after another in the order of RowColumns; every machine of today is
 * little-endian.
 */
export function rowsFile(columns: RowColumns): Uint8Array {
  const { capturedAtMs, timestampMs, masses, source, camera, frame, textEnds, textBytes } = columns;
  const parts = [capturedAtMs, timestampMs, masses, source, camera, frame, textEnds, textBytes];
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}

/**
 * The columns in the bytes of NAME.rows, whose memory they share. Throws IndexError if the bytes are not what the
 * manifest says.
 */
export function parseRows(
  bytes: Uint8Array,
  { name, frames, rows }: Segment,
  cells: number,
  folder: string,
): RowColumns {
  if (bytes.length !== rows.bytes || crc32(bytes) !== rows.crc32) {
    throw new IndexError(`'${folder}/${name}.rows' is torn or has changed since it was written: make the index again`);
  }
  const damaged = (): IndexError =>
    new IndexError(`'${folder}/${name}.rows' has values that no index can have: make the index again`);
  if (bytes.length < frames * (8 * (2 + cells) + 4 * 3) + 4 * rows.texts) throw damaged();
  let at = bytes.byteOffset;
  const floats = (count: number): Float64Array => {
    at += 8 * count;
    return new Float64Array(bytes.buffer, at - 8 * count, count);
  };
  const words = (count: number): Uint32Array => {
    at += 4 * count;
    return new Uint32Array(bytes.buffer, at - 4 * count, count);
  };
  const columns: RowColumns = {
    capturedAtMs: floats(frames),
    timestampMs: floats(frames),
    masses: floats(frames * cells),
    source: words(frames),
    camera: words(frames),
    frame: words(frames),
    textEnds: words(rows.texts),
    textBytes: bytes.subarray(at - bytes.byteOffset),
  };
  if (!areTextsThere(columns)) throw damaged();
  return columns;
}

/** Whether each text lies inside the bytes, and frames refer only to existing texts. */
function areTextsThere({ source, camera, textEnds, textBytes }: RowColumns): boolean {
  let before = 0;
  for (const end of textEnds) {
    if (end < before) return false;
    before = end;
  }
  const isThere = (text: number): boolean => text < textEnds.length;
  return (
    before <= textBytes.length && source.every(isThere) && camera.every((text) => text === noText || isThere(text))
  );
}

/** The text of that number. */
export function textAt({ textEnds, textBytes }: RowColumns, number: number): string {
  const { buffer, byteOffset } = textBytes;
  const from = number === 0 ? 0 : textEnds[number - 1]!;
  return Buffer.from(buffer, byteOffset + from, textEnds[number]! - from).toString('utf8');
}
