import type { Rect } from '@halogrid/geometry';
import type { ByteRange, RemoteFile } from '@halogrid/sources';
import type { TileAccess } from './tiff.ts';
import { type TiffEntry, type TiffHeader, TiffReader } from './tiff-header.ts';

const tileOffsetsTag = 324;
const tileByteCountsTag = 325;

/** Old-style JPEG, whose tables are anywhere. */
const oldJpeg = 6;
const jpeg = 7;

/** A text or a profile longer than this is nothing that a decoder asks for. */
const maxValueBytes = 2 ** 26;

/** The signature and where the first directory is, in a BigTIFF. */
const signature: ByteRange = { start: 0, end: 16 };

/**
 * Tiles of a remote TIFF: the directory is copied to its place in a temporary file at once, and tiles as regions need
 * them, so that the decoder of local files reads what it would read there. The copy has one page.
 */
export async function openRemoteTiles(
  file: RemoteFile,
  { compression, width }: TiffHeader,
  tiles: { width: number; height: number },
): Promise<TileAccess> {
  const reader = new TiffReader(file);
  const { entries, range, next } = await reader.readFirstDirectory();
  const offsets = entries.get(tileOffsetsTag);
  const byteCounts = entries.get(tileByteCountsTag);
  const access = (path: string, prepare: (region: Rect) => Promise<void>): TileAccess => ({
    path,
    prepare,
    inputBytes: () => file.bytesRead,
    close: () => file.close(),
  });
  if (!offsets || !byteCounts || compression === oldJpeg) {
    return access(await file.copyParts([{ start: 0, end: file.sizeBytes }]), async () => {});
  }
  const values = [...entries].flatMap(([tag, entry]) => {
    const place = reader.placeOf(entry);
    const isNeeded = place && (tag === tileOffsetsTag || tag === tileByteCountsTag || length(place) <= maxValueBytes);
    return isNeeded ? [place] : [];
  });
  const columns = Math.ceil(width / tiles.width);
  // Where the directory does not tell how chroma is stored, libtiff looks into the first tile.
  const first = compression === jpeg ? await placesOf(reader, offsets, byteCounts, 0, 1) : [];
  const path = await file.copyParts([signature, range, ...values, ...first]);
  await file.blankInCopy(next);
  return access(path, async ({ x, y, width, height }) => {
    const left = Math.floor(x / tiles.width);
    const right = Math.floor((x + width - 1) / tiles.width);
    const rows: Promise<ByteRange[]>[] = [];
    for (let row = Math.floor(y / tiles.height); row * tiles.height < y + height; row++) {
      rows.push(placesOf(reader, offsets, byteCounts, row * columns + left, right - left + 1));
    }
    await file.copyParts((await Promise.all(rows)).flat());
  });
}

const length = ({ start, end }: ByteRange): number => end - start;

/** Where some tiles in a row are. */
async function placesOf(
  reader: TiffReader,
  offsets: TiffEntry,
  byteCounts: TiffEntry,
  from: number,
  count: number,
): Promise<ByteRange[]> {
  const starts = await reader.integers(offsets, count, from);
  const lengths = await reader.integers(byteCounts, count, from);
  return starts.map((start, i) => ({ start, end: start + (lengths[i] ?? 0) }));
}
