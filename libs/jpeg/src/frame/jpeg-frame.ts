import type { HuffmanTable } from '@halogrid/imaging/jpeg-segments';

/** A component of a JPEG. */
export interface JpegComponent {
  /** Blocks of an MCU that come before its own, and its own, side by side and one above the other. */
  first: number;
  across: number;
  down: number;
  /** Its quantisation table, in the order of the file (zig-zag). */
  quantisers: Uint16Array;
}

/** What the header of a JPEG says of its luma, and of all that stands between it. */
export interface JpegFrame {
  /** Pixels: 1 to 65,500. */
  width: number;
  height: number;
  /**
   * Blocks of 8 x 8 that one MCU (the unit in which components alternate) has of luma, side by side and one above the
   * other.
   */
  lumaAcross: number;
  lumaDown: number;
  /** Blocks of an MCU that come before those of luma. */
  lumaFirst: number;
  /** MCUs of a row. */
  mcusAcross: number;
  /** Blocks of an MCU: 1 to 10. */
  mcuBlocks: number;
  /** The blocks of all components. */
  blocks: number;
  /** Blocks between two restart markers; 0 where there are none. */
  restartBlocks: number;
  /** The different tables that the scan uses: 2 to 4. */
  tables: readonly HuffmanTable[];
  /** Which of them each block of an MCU uses for its DC and its AC coefficients. */
  dcTables: readonly number[];
  acTables: readonly number[];
  /** The quantisation table of luma, in the order of the file (zig-zag). */
  quantisers: Uint16Array;
  /** Luma, which has the greatest factors, and two of chroma unless it is gray. */
  components: readonly JpegComponent[];
  /** Where the entropy-coded data begins. */
  dataStart: number;
  /** MCUs that its data has in front of its pixels, and the number of its first restart marker: 0, but for bands. */
  skippedMcus: number;
  firstRestart: number;
}

/** Blocks of luma. */
export const lumaBlocks = ({ blocks, mcuBlocks, lumaAcross, lumaDown }: JpegFrame): number =>
  (blocks / mcuBlocks) * lumaAcross * lumaDown;

/**
 * A component as a frame of its own, as if it were its luma: what decodes luma then decodes that. Its size is that of
 * its samples.
 */
export function componentFrame(frame: JpegFrame, component: number): JpegFrame {
  const { first, across, down, quantisers } = frame.components[component]!;
  const width = Math.ceil((frame.width * across) / frame.lumaAcross);
  const height = Math.ceil((frame.height * down) / frame.lumaDown);
  return { ...frame, width, height, lumaFirst: first, lumaAcross: across, lumaDown: down, quantisers };
}

/** Whether devices make colours of it: libjpeg takes no component whose samples are for other than whole pixels. */
export const hasColours = ({ components, lumaAcross, lumaDown }: JpegFrame): boolean =>
  components.every(({ across, down }) => lumaAcross % across === 0 && lumaDown % down === 0);
