import type { JpegFrame } from './jpeg-frame.ts';

/** Stretches of the data of a JPEG that restart markers end, of which each is decoded without those before it. */
export interface JpegStretches {
  /** Where each begins in the file, and one more: where one behind the last would begin. */
  starts: readonly number[];
  /** Where each ends: at its marker, or fill bytes in front of that. */
  ends: readonly number[];
}

/** Rows of a JPEG that are decoded without the others. */
export interface JpegBand {
  /** As if the band were an image; its data begins where its bytes do. */
  frame: JpegFrame;
  /** Its bytes of the file, behind which `endOfData` is to follow. */
  from: number;
  to: number;
}

/** What ends the data of a band. */
export const endOfData: Uint8Array = Uint8Array.of(0xff, 0xd9);

const [firstRestart, endMarker] = [0xd0, 0xd9];

/**
 * Finds the stretches of a JPEG, of which `frame` is what its header says; for a file without restart markers, or with others than
 * it must have, a phrase that says why cores decode it. It looks at every FF of the file.
 */
export function findStretches(jpeg: Uint8Array, frame: JpegFrame): JpegStretches | string {
  const { dataStart, restartBlocks, blocks } = frame;
  if (restartBlocks === 0) return 'no restart markers';
  const expected = Math.ceil(blocks / restartBlocks);
  const starts = [dataStart];
  const ends: number[] = [];
  for (let at = jpeg.indexOf(0xff, dataStart); at >= 0; at = jpeg.indexOf(0xff, at)) {
    const end = at;
    // Any number of fill bytes may stand before a marker.
    while (jpeg[at] === 0xff) at++;
    const code = jpeg[at++];
    // What is stuffed behind a byte FF of the data.
    if (code === 0) continue;
    ends.push(end);
    starts.push(at);
    if (code === endMarker) return ends.length === expected ? { starts, ends } : 'another number of restart markers';
    if (code !== firstRestart + ((ends.length - 1) & 7)) return 'a marker that is not due';
  }
  return 'no end of the data';
}

/**
 * Rows of an image from `y` on, which is a multiple of the rows of an MCU: as many as asked for, or as there are. The bands of an image
 * are fine together where its pixels are.
 */
export function bandOf(frame: JpegFrame, { starts, ends }: JpegStretches, y: number, rows: number): JpegBand {
  const { lumaDown, mcusAcross, mcuBlocks, restartBlocks, blocks } = frame;
  const mcuRows = 8 * lumaDown;
  if (y % mcuRows !== 0) throw new RangeError(`A band from row ${y} on, where an MCU has ${mcuRows}`);
  const height = Math.min(rows, frame.height - y);
  const stretchMcus = restartBlocks / mcuBlocks;
  const firstMcu = (y / mcuRows) * mcusAcross;
  const endMcu = Math.ceil((y + height) / mcuRows) * mcusAcross;
  const first = Math.floor(firstMcu / stretchMcus);
  const end = Math.ceil(endMcu / stretchMcus);
  const own = {
    ...{ height, dataStart: 0, skippedMcus: firstMcu - first * stretchMcus, firstRestart: first & 7 },
    blocks: Math.min(blocks, end * restartBlocks) - first * restartBlocks,
  };
  return { frame: { ...frame, ...own }, from: starts[first]!, to: ends[end - 1]! };
}
