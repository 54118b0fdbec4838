const [marker, app1, startOfScan, endOfImage] = [0xff, 0xe1, 0xda, 0xd9];

/**
 * The Exif segment of a JPEG, from the word "Exif" on; undefined if there is none before the pixels. Other segments are
 * skipped by their lengths.
 */
export function jpegExif(jpeg: Uint8Array): Uint8Array | undefined {
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
    if (kind === app1 && isExif(jpeg, at + 4)) return jpeg.subarray(at + 4, at + 2 + length);
    at += 2 + length;
  }
  return undefined;
}

function isExif(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x45 &&
    bytes[at + 1] === 0x78 &&
    bytes[at + 2] === 0x69 &&
    bytes[at + 3] === 0x66 &&
    bytes[at + 4] === 0 &&
    bytes[at + 5] === 0
  );
}
