import type { HuffmanTable } from '@halogrid/imaging/jpeg-segments';

/** A component of a JPEG. */
export interface JpegComponent {
  /** Its blocks in an MCU: the number of blocks before them, and how many are side by side and one above the other. */
  first: number;
  across: number;
  down: number;
  /** Its quantisation table, in zig-zag order as in the file. */
  quantisers: Uint16Array;
}

/** The header of a JPEG, as far as it matters for decoding. */
export interface JpegFrame {
  /** Pixels: 1 to 65,500. */
  width: number;
  height: number;
  /** Luma blocks of 8 x 8 in an MCU (the unit in which components alternate), side by side and one above the other. */
  lumaAcross: number;
  lumaDown: number;
  /** Blocks of an MCU before its luma blocks. */
  lumaFirst: number;
  /** MCUs per row. */
  mcusAcross: number;
  /** Blocks per MCU: 1 to 10. */
  mcuBlocks: number;
  /** Blocks of all components together. */
  blocks: number;
  /** Blocks between two restart markers; 0 if there are none. */
  restartBlocks: number;
  /** The different tables that the scan uses: 2 to 4. */
  tables: readonly HuffmanTable[];
  /** For each block of an MCU, the indexes in `tables` for its DC and its AC coefficients. */
  dcTables: readonly number[];
  acTables: readonly number[];
  /** The quantisation table of luma, in zig-zag order as in the file. */
  quantisers: Uint16Array;
  /** Luma, which has the greatest sampling factors, and two components of chroma unless the image is gray. */
  components: readonly JpegComponent[];
  /** The offset of the entropy-coded data in the file. */
  dataStart: number;
  /** MCUs in the data before the first pixel, and the number of the first restart marker: both 0 except for bands. */
  skippedMcus: number;
  firstRestart: number;
}

/** The number of luma blocks. */
export const lumaBlocks = ({ blocks, mcuBlocks, lumaAcross, lumaDown }: JpegFrame): number =>
  (blocks / mcuBlocks) * lumaAcross * lumaDown;

/**
 * A frame in which a component takes the place of luma, so that decoders of luma decode this component. Its size is the
 * component's number of samples.
 */
export function componentFrame(frame: JpegFrame, component: number): JpegFrame {
  const { first, across, down, quantisers } = frame.components[component]!;
  const width = Math.ceil((frame.width * across) / frame.lumaAcross);
  const height = Math.ceil((frame.height * down) / frame.lumaDown);
  return { ...frame, width, height, lumaFirst: first, lumaAcross: across, lumaDown: down, quantisers };
}

/** Whether devices can make colours of it: libjpeg refuses components whose samples do not cover whole pixels. */
export const hasColours = ({ components, lumaAcross, lumaDown }: JpegFrame): boolean =>
  components.every(({ across, down }) => lumaAcross % across === 0 && lumaDown % down === 0);
