/** A directory that is laid out as a TIFF, and where it begins. */
export interface SmallTiff {
  view: DataView;
  isLittle: boolean;
  directory: number;
}

/** An entry: its type, the number of its values, and where its last four bytes are. */
interface SmallTiffEntry {
  type: number;
  count: number;
  at: number;
}

/** The first directory of bytes that are laid out as a TIFF, as in segments of JPEGs; undefined for others. */
export function smallTiff(bytes: Uint8Array): SmallTiff | undefined {
  if (bytes.length < 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const order = view.getUint16(0);
  const isLittle = order === 0x4949;
  if (!(isLittle || order === 0x4d4d) || view.getUint16(2, isLittle) !== 42) return undefined;
  return { view, isLittle, directory: view.getUint32(4, isLittle) };
}

/** The first entry of that tag in a directory; it is read once, whatever it says. */
export function tiffEntry({ view, isLittle, directory }: SmallTiff, tag: number): SmallTiffEntry | undefined {
  if (directory + 2 > view.byteLength) return undefined;
  const entries = view.getUint16(directory, isLittle);
  for (let i = 0, at = directory + 2; i < entries && at + 12 <= view.byteLength; i++, at += 12) {
    if (view.getUint16(at, isLittle) === tag) {
      return { type: view.getUint16(at + 2, isLittle), count: view.getUint32(at + 4, isLittle), at: at + 8 };
    }
  }
  return undefined;
}
