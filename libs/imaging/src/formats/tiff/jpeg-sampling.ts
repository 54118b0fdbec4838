/**
 * How many samples of the first component a JPEG has for one of the others, across and down; 1 x 1 where it does not say. A JPEG
 * in a TIFF may lack its tables, and has its frame header.
 */
export function jpegSampling(jpeg: Buffer): [across: number, down: number] {
  for (let at = 2; at + 12 <= jpeg.length && jpeg[at] === 0xff; ) {
    const marker = jpeg[at + 1]!;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) at++;
    // A frame's header: C0 to CF but for the tables C4, C8 and CC.
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return [jpeg[at + 11]! >> 4 || 1, jpeg[at + 11]! & 15 || 1];
    } else at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return [1, 1];
}
