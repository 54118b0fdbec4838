import { marker } from '@halogrid/imaging/jpeg-segments';
import type { JpegFrame } from './jpeg-frame.ts';
import type { JpegStretches } from './stretches.ts';

/** Rows of a JPEG that are decoded without the rest. */
export interface JpegBand {
  /** A frame as if the band were an image; its data begins with the band's bytes. */
  frame: JpegFrame;
  /** The band's bytes in the file. `endOfData` has to be appended to them. */
  from: number;
  to: number;
  /** The band's stretches: from `first` on, up to but without `end`. */
  first: number;
  end: number;
}

/** Ends the data of a band. */
export const endOfData: Uint8Array = Uint8Array.of(0xff, marker.endOfImage);

/**
 * `rows` rows of an image from `y` on, or fewer if the image ends before. `y` is a multiple of the rows of an MCU. The
 * bands of an image are all fine if its pixels are.
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
    height,
    dataStart: 0,
    skippedMcus: firstMcu - first * stretchMcus,
    firstRestart: first & 7,
    blocks: Math.min(blocks, end * restartBlocks) - first * restartBlocks,
  };
  return { frame: { ...frame, ...own }, from: starts[first]!, to: ends[end - 1]!, first, end };
}

/**
 * The least number of rows after which a stretch begins at the start of a row, so that bands of this many rows have no
 * MCUs to skip. For JPEGs with restart markers.
 */
export function rowsOfStretches({ lumaDown, mcusAcross, mcuBlocks, restartBlocks }: JpegFrame): number {
  const stretchMcus = restartBlocks / mcuBlocks;
  return (8 * lumaDown * stretchMcus) / greatestDivisor(stretchMcus, mcusAcross);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
