import type { HuffmanTable } from './huffman-table.ts';

/** What the header of a JPEG says of its luma, and of all that stands between it. */
export interface JpegFrame {
  /** Pixels: 1 to 65,500. */
  width: number;
  height: number;
  /**
   * Blocks of 8 x 8 that one MCU (the unit in which components alternate) has of luma, side by side and one above the other.
   */
  lumaAcross: number;
  lumaDown: number;
  /** MCUs of a row. */
  mcusAcross: number;
  /** Blocks of an MCU, those of luma first: 1 to 10. */
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
  /** Where the entropy-coded data begins. */
  dataStart: number;
}

/** Blocks of luma. */
export const lumaBlocks = ({ blocks, mcuBlocks, lumaAcross, lumaDown }: JpegFrame): number =>
  (blocks / mcuBlocks) * lumaAcross * lumaDown;
