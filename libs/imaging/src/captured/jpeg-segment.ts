const [marker, startOfScan, endOfImage] = [0xff, 0xda, 0xd9];

/** The segments that are looked for: the second byte of the marker, and the bytes with which the segment begins. */
const segments = {
  exif: { marker: 0xe1, word: Buffer.from('Exif\0\0', 'latin1') },
  /** The index of the Multi-Picture Format (CIPA DC-007). */
  pictures: { marker: 0xe2, word: Buffer.from('MPF\0', 'latin1') },
} as const;

/**
 * The segment of a JPEG that begins with that word, from the word on; undefined if there is none before the pixels.
 * Other segments are skipped by their lengths.
 */
export function jpegSegment(jpeg: Uint8Array, name: keyof typeof segments): Uint8Array | undefined {
  const wanted = segments[name];
  for (let at = 2; at + 10 <= jpeg.length && jpeg[at] === marker; ) {
    const kind = jpeg[at + 1]!;
    // Any number of fill bytes may stand before a marker.
    if (kind === marker) {
      at++;
      continue;
    }
    if (kind === startOfScan || kind === endOfImage) return undefined;
    const length = (jpeg[at + 2]! << 8) | jpeg[at + 3]!;
    if (length < 2) return undefined;
    if (kind === wanted.marker && beginsWith(jpeg, at + 4, wanted.word)) return jpeg.subarray(at + 4, at + 2 + length);
    at += 2 + length;
  }
  return undefined;
}

function beginsWith(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  // A loop, because a view of the bytes would take longer than all other steps.
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}
