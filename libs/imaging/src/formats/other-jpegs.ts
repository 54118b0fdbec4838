import { jpegSegment } from '../captured/jpeg-segment.ts';
import { smallTiff, tiffEntry } from '../captured/tiff-entry.ts';

/** What is said of a JPEG with further pictures behind the first, as stereo cameras write them (MPO). */
const sentence = 'only the first of several pictures was read';

/** The tag of the list of pictures, and the bytes of each: attributes, size, offset, dependents. */
const [mpEntry, entryBytes] = [0xb002, 16];
/** Kinds of pictures in the low bits of the attributes: panorama, stereo, several angles; none, as Pillow writes. */
const [kinds, several, undefinedKind] = [0xff_ffff, [0x02_0001, 0x02_0002, 0x02_0003], 0];

/**
 * A sentence if the index of a JPEG (CIPA DC-007) lists pictures behind the first; undefined if not. Thumbnails do not
 * count. Pictures without a kind count if they have at least half as many bytes as the first: the gain maps of phones
 * have less. `head`: the file at least up to its pixels.
 */
export function sayOtherJpegs(head: Uint8Array): string | undefined {
  const segment = jpegSegment(head, 'pictures');
  const tiff = segment && smallTiff(segment.subarray(4));
  const list = tiff && tiffEntry(tiff, mpEntry);
  if (!list) return undefined;
  const { view, isLittle } = tiff;
  const start = view.getUint32(list.at, isLittle);
  const count = Math.floor(Math.min(list.count, view.byteLength - start) / entryBytes);
  const pictureAt = (i: number): { kind: number; bytes: number } => {
    const at = start + i * entryBytes;
    return { kind: view.getUint32(at, isLittle) & kinds, bytes: view.getUint32(at + 4, isLittle) };
  };
  for (let i = 1; i < count; i++) {
    const { kind, bytes } = pictureAt(i);
    if (several.includes(kind) || (kind === undefinedKind && 2 * bytes >= pictureAt(0).bytes)) return sentence;
  }
  return undefined;
}
