/** The least code of a marker that JPEGs have; ITU-T T.81 reserves those below. */
const leastCode = 0xc0;

/** A marker of a file. */
export interface FoundMarker {
  /** Where its first byte FF is; any number of them may stand in front of its code. */
  from: number;
  code: number;
  /** Where the byte behind it is. */
  end: number;
}

/** The first marker at or behind `at`. FF 00 is none, and what is below C0 is in no JPEG. */
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
