import {
  type Component,
  type HuffmanTable,
  marker,
  maxTables,
  readSegment,
  type Segments,
  Unusual,
} from '@halogrid/imaging/jpeg-segments';
import type { JpegComponent, JpegFrame } from './jpeg-frame.ts';

/** The most blocks per MCU that the format allows; libjpeg refuses more. */
const maxMcuBlocks = 10;
/** The fewest bits of a block: a code for its DC, and one for the end of its AC coefficients. */
const leastBlockBits = 2;

/**
 * The header of a JPEG whose luma devices can decode: baseline or extended sequential, Huffman codes, 8 bits, gray or
 * YCbCr with luma at full resolution, in one scan. For any other file, and any that is irregular in the least, returns
 * a phrase that says why cores must decode it; cores report what is wrong with a file. `head`: the beginning of a file
 * of `fileBytes` bytes, which contains its header, or the whole file.
 */
export function readJpegFrame(head: Uint8Array, fileBytes = head.length): JpegFrame | string {
  try {
    return readSegments(head, fileBytes);
  } catch (error) {
    if (error instanceof Unusual) return error.message;
    throw error;
  }
}

/** The offset of a JPEG's data, by the lengths of its segments; undefined if they do not lead to a scan. */
export function endOfHeader(jpeg: Uint8Array): number | undefined {
  for (let at = 2; jpeg[at] === 0xff; ) {
    while (jpeg[at + 1] === 0xff) at++;
    const length = (jpeg[at + 2]! << 8) | jpeg[at + 3]!;
    const end = at + 2 + length;
    if (length < 2 || end > jpeg.length) return undefined;
    if (jpeg[at + 1] === marker.startOfScan) return end;
    at = end;
  }
  return undefined;
}

function readSegments(jpeg: Uint8Array, fileBytes: number): JpegFrame {
  if (jpeg[0] !== 0xff || jpeg[1] !== marker.startOfImage) throw new Unusual('no start of an image');
  const found: Segments = { quantisers: [], dc: [], ac: [], restartMcus: 0, isJfif: false };
  for (let at = 2; ; ) {
    if (jpeg[at] !== 0xff) throw new Unusual('no marker where one is due');
    // Any number of fill bytes may stand before a marker.
    while (jpeg[at + 1] === 0xff) at++;
    const kind = jpeg[at + 1];
    const length = (jpeg[at + 2]! << 8) | jpeg[at + 3]!;
    const end = at + 2 + length;
    if (kind === undefined || !(length >= 2) || end > jpeg.length) throw new Unusual('the header is cut off');
    const segment = jpeg.subarray(at + 4, end);
    if (kind === marker.startOfScan) return layOut(found, readScan(segment, found), end, fileBytes);
    readSegment(kind, segment, found);
    at = end;
  }
}

/** The tables of each component: bits 4 to 7 for DC, bits 0 to 3 for AC. */
function readScan(segment: Uint8Array, { frame }: Segments): readonly number[] {
  if (!frame) throw new Unusual('a scan before its frame');
  const { components } = frame;
  const isWhole = segment[0] === components.length && segment.length === 4 + 2 * components.length;
  if (!isWhole) throw new Unusual('several scans');
  const [start, end, approximation] = segment.subarray(-3) as unknown as [number, number, number];
  if (start !== 0 || end !== 63 || approximation !== 0) throw new Unusual('a scan of some coefficients');
  if (new Set(components.map(({ id }) => id)).size < components.length) throw new Unusual('two components of one name');
  return components.map(({ id }, i) => {
    if (segment[1 + 2 * i] !== id) throw new Unusual('components in another order');
    return segment[2 + 2 * i]!;
  });
}

function layOut(found: Segments, selectors: readonly number[], dataStart: number, fileBytes: number): JpegFrame {
  const { width, height, components } = found.frame!;
  checkColours(found, components);
  const luma = components[0]!;
  const isGray = components.length === 1;
  if (components.some(({ across, down }) => across > luma.across || down > luma.down)) {
    throw new Unusual('luma is not at full resolution');
  }
  // A single component has MCUs of one block, for all sampling factors.
  const blocksOf = ({ across, down }: Component) => (isGray ? 1 : across * down);
  const [lumaAcross, lumaDown] = isGray ? [1, 1] : [luma.across, luma.down];
  const mcuBlocks = components.reduce((sum, component) => sum + blocksOf(component), 0);
  if (mcuBlocks > maxMcuBlocks) throw new Unusual('more blocks an MCU than libjpeg reads');
  const mcusAcross = Math.ceil(width / (8 * lumaAcross));
  const blocks = mcusAcross * Math.ceil(height / (8 * lumaDown)) * mcuBlocks;
  if (isTooShort(blocks, fileBytes - dataStart)) throw new Unusual('less data than its size needs');
  const tables: HuffmanTable[] = [];
  const perBlock = (of: (HuffmanTable | undefined)[], shift: number): number[] =>
    components.flatMap((component, i) =>
      Array(blocksOf(component)).fill(numberOf(of[(selectors[i]! >> shift) & 15], tables)),
    );
  const quantisers = components.map((component) => found.quantisers[component.quantisers]);
  if (quantisers.includes(undefined)) throw new Unusual('a quantisation table is missing');
  let first = 0;
  const parts = components.map((component, i): JpegComponent => {
    const [across, down] = isGray ? [1, 1] : [component.across, component.down];
    const part = { first, across, down, quantisers: quantisers[i]! };
    first += across * down;
    return part;
  });
  const [dcTables, acTables] = [perBlock(found.dc, 4), perBlock(found.ac, 0)];
  if (tables.length > maxTables) throw new Unusual('more tables than devices hold');
  return {
    width,
    height,
    lumaFirst: 0,
    lumaAcross,
    lumaDown,
    mcusAcross,
    mcuBlocks,
    blocks,
    components: parts,
    restartBlocks: found.restartMcus * mcuBlocks,
    tables,
    dcTables,
    acTables,
    quantisers: quantisers[0]!,
    dataStart,
    skippedMcus: 0,
    firstRestart: 0,
  };
}

/** Whether `dataBytes` bytes are too few for `blocks` blocks. */
export const isTooShort = (blocks: number, dataBytes: number): boolean => blocks * leastBlockBits > 8 * dataBytes;

/** Throws unless three components are YCbCr by the rules of libjpeg. */
function checkColours({ isJfif, transform }: Segments, components: readonly Component[]): void {
  if (components.length === 1 || isJfif) return;
  if (transform === undefined) {
    const ids = String.fromCharCode(...components.map(({ id }) => id));
    if (ids === 'RGB') throw new Unusual('RGB');
  } else if (transform !== 1) throw new Unusual(transform === 0 ? 'RGB' : 'an unknown colour transform');
}

/** The index of a table in `tables`, to which it is added if it is new. */
function numberOf(table: HuffmanTable | undefined, tables: HuffmanTable[]): number {
  if (!table) throw new Unusual('a Huffman table is missing');
  if (!tables.includes(table)) tables.push(table);
  return tables.indexOf(table);
}
