import { marker } from '@halogrid/imaging/jpeg-segments';
import type { JpegFrame } from './jpeg-frame.ts';
import type { JpegStretches } from './stretches.ts';

/** Rows of a JPEG that are decoded without the others. */
export interface JpegBand {
  /** As if the band were an image; its data begins where its bytes do. */
  frame: JpegFrame;
  /** Its bytes of the file, behind which `endOfData` is to follow. */
  from: number;
  to: number;
  /** The stretches that it has: from `first` on, those before `end`. */
  first: number;
  end: number;
}

/** What ends the data of a band. */
export const endOfData: Uint8Array = Uint8Array.of(0xff, marker.endOfImage);

/**
 * Rows of an image from `y` on, which is a multiple of the rows of an MCU: as many as asked for, or as there are. The
 * bands of an image are fine together where its pixels are.
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
  return { frame: { ...frame, ...own }, from: starts[first]!, to: ends[end - 1]!, first, end };
}

/**
 * Rows after which a stretch begins where a row does, so that bands of as many have no MCUs to skip. For a JPEG with
 * restart markers.
 */
export function rowsOfStretches({ lumaDown, mcusAcross, mcuBlocks, restartBlocks }: JpegFrame): number {
  const stretchMcus = restartBlocks / mcuBlocks;
  return (8 * lumaDown * stretchMcus) / greatestDivisor(stretchMcus, mcusAcross);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
