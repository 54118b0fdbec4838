/** The lowest code of a marker in a JPEG; ITU-T T.81 reserves lower codes. */
const leastCode = 0xc0;

/** A marker of a file. */
export interface FoundMarker {
  /** Where its first FF byte is. Any number of FF bytes may precede its code. */
  from: number;
  code: number;
  /** The place of the byte after it. */
  end: number;
}

/** The first marker at or after `at`. FF 00 is not a marker, and codes below C0 do not occur in JPEGs. */
export function nextMarker(jpeg: Uint8Array, at: number): FoundMarker | undefined {
  for (let from = jpeg.indexOf(0xff, at); from >= 0; from = jpeg.indexOf(0xff, from)) {
    let end = from;
    while (jpeg[end] === 0xff) end++;
    const code = jpeg[end++];
    if (code === undefined) return undefined;
    if (code >= leastCode) return { from, code, end };
    from = end;
  }
  return undefined;
}
