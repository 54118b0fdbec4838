/** A directory of a TIFF file as a test finds it. */
export interface Directory {
  /** The byte at which it begins. */
  offset: number;
  width: number;
  height: number;
  tileWidth: number;
  tileHeight: number;
  isOverview: boolean;
  tileOffsets: number[];
  tileByteCounts: number[];
}

/**
 * The directories of a little-endian TIFF or BigTIFF file of tiles, which are compressed without `bytesPerPixel`.
 * Throws unless the file is a Cloud Optimized GeoTIFF. The first directory must follow the header, and then the
 * directories of overviews, each of half the size, all with their values before the first tile. Tiles must lie row by
 * row, from the smallest overview to the image, up to the end of the file. `fileBytes` is the length of the file;
 * `head` has at least all bytes before the first tile.
 */
export function checkCogStructure(head: Uint8Array, fileBytes: number, bytesPerPixel?: number): Directory[] {
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  if (view.getUint16(0, true) !== 0x4949) throw new Error('Not little-endian');
  const isBig = view.getUint16(2, true) === 43;
  if (!isBig && view.getUint16(2, true) !== 42) throw new Error('Not a TIFF file');
  const offsetAt = (at: number): number => (isBig ? Number(view.getBigUint64(at, true)) : view.getUint32(at, true));

  const directories: Directory[] = [];
  let endOfHead = 0;
  for (let at = offsetAt(isBig ? 8 : 4); at !== 0; ) {
    const [countBytes, entryBytes, inlineBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
    const count = isBig ? offsetAt(at) : view.getUint16(at, true);
    const values = new Map<number, number[]>();
    for (let i = 0; i < count; i++) {
      const entry = at + countBytes + i * entryBytes;
      const type = view.getUint16(entry + 2, true);
      const unit = { 2: 1, 3: 2, 4: 4, 5: 8, 16: 8 }[type];
      if (!unit) throw new Error(`Type ${type}`);
      const length = offsetAt(entry + 4);
      const from = unit * length <= inlineBytes ? entry + 4 + inlineBytes : offsetAt(entry + 4 + inlineBytes);
      if (from % 2) throw new Error('A value begins at an odd byte');
      endOfHead = Math.max(endOfHead, from + unit * length);
      const read = (k: number): number => {
        const position = from + k * unit;
        if (unit === 1) return view.getUint8(position);
        if (unit === 2) return view.getUint16(position, true);
        return type === 16 ? Number(view.getBigUint64(position, true)) : view.getUint32(position, true);
      };
      const tag = view.getUint16(entry, true);
      if (tag <= Math.max(...values.keys())) throw new Error('Tags are not in order');
      values.set(
        tag,
        Array.from({ length }, (_, k) => read(k)),
      );
    }
    const one = (tag: number): number => values.get(tag)?.[0] ?? 0;
    directories.push({
      offset: at,
      width: one(256),
      height: one(257),
      tileWidth: one(322),
      tileHeight: one(323),
      isOverview: one(254) === 1,
      tileOffsets: values.get(324)!,
      tileByteCounts: values.get(325)!,
    });
    const next = at + countBytes + count * entryBytes;
    endOfHead = Math.max(endOfHead, next + inlineBytes);
    at = offsetAt(next);
  }
  checkOrder(directories, isBig ? 16 : 8, endOfHead, fileBytes, bytesPerPixel);
  return directories;
}

function checkOrder(
  directories: Directory[],
  headerBytes: number,
  endOfHead: number,
  fileBytes: number,
  bytesPerPixel: number | undefined,
): void {
  if (directories[0]!.offset !== headerBytes) throw new Error('The first directory does not follow the header');
  for (const [i, { offset, width, height, isOverview }] of directories.entries()) {
    const before = directories[i - 1];
    if (isOverview !== (before !== undefined)) throw new Error(`Directory ${i} is an overview: ${isOverview}`);
    if (!before) continue;
    if (offset <= before.offset) throw new Error(`Directory ${i} lies before the one before`);
    const half = [Math.ceil(before.width / 2), Math.ceil(before.height / 2)];
    if (width !== half[0] || height !== half[1]) throw new Error(`Overview ${i} is ${width} x ${height}`);
  }
  let next: number | undefined;
  for (const directory of directories.toReversed()) {
    const { width, height, tileWidth, tileHeight, tileOffsets, tileByteCounts } = directory;
    if (tileWidth % 16 || tileHeight % 16) throw new Error(`Tiles of ${tileWidth} x ${tileHeight}`);
    const tiles = Math.ceil(width / tileWidth) * Math.ceil(height / tileHeight);
    if (tileOffsets.length !== tiles || tileByteCounts.length !== tiles) throw new Error(`${tiles} tiles expected`);
    for (const [i, offset] of tileOffsets.entries()) {
      if (next === undefined && offset < endOfHead) throw new Error('Tiles begin before the directories end');
      if (next !== undefined && offset !== next) throw new Error(`A tile lies at ${offset} instead of ${next}`);
      const bytes = bytesPerPixel === undefined ? tileByteCounts[i]! : tileWidth * tileHeight * bytesPerPixel;
      if (tileByteCounts[i] !== bytes) throw new Error('A tile of another length');
      next = offset + bytes;
    }
  }
  if (next !== fileBytes) throw new Error(`The last tile ends at ${next} of ${fileBytes}`);
}
