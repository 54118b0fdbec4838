/** What the frame header of a JPEG says. */
export interface JpegFrameHeader {
  height: number;
  /** Samples of the first component for each sample of the others, across and down. */
  sampling: readonly [across: number, down: number];
}

/** Reads the frame header; undefined if there is none. A JPEG in a TIFF may lack its tables. */
export function jpegFrame(jpeg: Buffer): JpegFrameHeader | undefined {
  for (let at = 2; at + 12 <= jpeg.length && jpeg[at] === 0xff; ) {
    const marker = jpeg[at + 1]!;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) at++;
    // C0 to CF, except C4, C8 and CC, which are not frame headers.
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const factors = jpeg[at + 11]!;
      return { height: jpeg.readUInt16BE(at + 5), sampling: [factors >> 4 || 1, factors & 15 || 1] };
    } else at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return undefined;
}
