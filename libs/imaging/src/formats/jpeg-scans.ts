/** Markers of frames whose scans are decoded as they come: baseline, extended, and that with arithmetic codes. */
const sequentialFrames = new Set([0xc0, 0xc1, 0xc9]);
/** Those of all other frames; C4, C8 and CC are none. */
const otherFrames = new Set([0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const startOfScan = 0xda;

/**
 * Whether a JPEG has all of its components in one scan and is not progressive. Of others a decoder holds the coefficients of
 * the whole image, 2 bytes or more a sample, until the last scan has come.
 */
export function isOfOneScan(jpeg: Buffer): boolean {
  let components = 0;
  for (let at = 2; at + 9 < jpeg.length && jpeg[at] === 0xff; ) {
    const marker = jpeg[at + 1]!;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (otherFrames.has(marker)) return false;
    if (sequentialFrames.has(marker)) components = jpeg[at + 9]!;
    if (marker === startOfScan) return jpeg[at + 4] === components;
    at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return false;
}
