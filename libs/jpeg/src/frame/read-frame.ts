import { buildHuffmanTable, type HuffmanTable, maxTables } from './huffman-table.ts';
import type { JpegFrame } from './jpeg-frame.ts';

/** Of libjpeg: larger images are refused. */
const maxSide = 65_500;
/** Of the format: libjpeg refuses more. */
const maxMcuBlocks = 10;
/** Bits that a block takes at least: a code for its DC and one for the end of its AC coefficients. */
const leastBlockBits = 2;

const marker = {
  soi: 0xd8,
  sos: 0xda,
  dqt: 0xdb,
  dht: 0xc4,
  dri: 0xdd,
  com: 0xfe,
  app0: 0xe0,
  app14: 0xee,
  app15: 0xef,
};
/** Baseline, and extended sequential, which differs in what tables it may have. */
const huffmanFrames = [0xc0, 0xc1];

interface Component {
  id: number;
  across: number;
  down: number;
  quantisers: number;
}

interface StartOfFrame {
  width: number;
  height: number;
  components: readonly Component[];
}

/** What segments have said so far. */
interface Segments {
  quantisers: (Uint16Array | undefined)[];
  dc: (HuffmanTable | undefined)[];
  ac: (HuffmanTable | undefined)[];
  frame?: StartOfFrame;
  restartMcus: number;
  isJfif: boolean;
  /** The colour transform that an Adobe marker names. */
  transform?: number;
}

/** Thrown and caught in this file: why cores decode a file. */
class ForCores extends Error {}

/**
 * The header of a JPEG whose luma devices decode: baseline or extended sequential, with Huffman codes, 8 bits, gray or YCbCr with luma at full
 * resolution, in one scan. For any other, and any that is out of order in the least, a phrase that says why cores decode it: what
 * is wrong with a file is theirs to say. `jpeg` is the whole file.
 */
export function readJpegFrame(jpeg: Uint8Array): JpegFrame | string {
  try {
    return readSegments(jpeg);
  } catch (error) {
    if (error instanceof ForCores) return error.message;
    throw error;
  }
}

function readSegments(jpeg: Uint8Array): JpegFrame {
  if (jpeg[0] !== 0xff || jpeg[1] !== marker.soi) throw new ForCores('no start of an image');
  const found: Segments = { quantisers: [], dc: [], ac: [], restartMcus: 0, isJfif: false };
  for (let at = 2; ; ) {
    if (jpeg[at] !== 0xff) throw new ForCores('no marker where one is due');
    // Any number of fill bytes may stand before a marker.
    while (jpeg[at + 1] === 0xff) at++;
    const kind = jpeg[at + 1];
    const length = (jpeg[at + 2]! << 8) | jpeg[at + 3]!;
    const end = at + 2 + length;
    if (kind === undefined || !(length >= 2) || end > jpeg.length) throw new ForCores('the header is cut off');
    const segment = jpeg.subarray(at + 4, end);
    if (kind === marker.sos) return layOut(found, readScan(segment, found), end, jpeg.length);
    readSegment(kind, segment, found);
    at = end;
  }
}

function readSegment(kind: number, segment: Uint8Array, found: Segments): void {
  if (huffmanFrames.includes(kind)) {
    if (found.frame) throw new ForCores('two frames');
    found.frame = readStartOfFrame(segment);
  } else if (kind === marker.dht) readHuffmanTables(segment, found);
  else if (kind === marker.dqt) readQuantisers(segment, found.quantisers);
  else if (kind === marker.dri) {
    if (segment.length !== 2) throw new ForCores('a restart interval of another length');
    found.restartMcus = word(segment, 0);
  } else if (kind >= marker.app0 && kind <= marker.app15) readApplication(kind, segment, found);
  else if (kind !== marker.com) throw new ForCores(`marker ${kind.toString(16)}`);
}

function readStartOfFrame(segment: Uint8Array): StartOfFrame {
  const [precision, components] = [segment[0], segment[5]];
  if (precision !== 8) throw new ForCores('samples of other than 8 bits');
  if (components !== 1 && components !== 3) throw new ForCores('neither gray nor YCbCr');
  if (segment.length !== 6 + 3 * components) throw new ForCores('a frame header of another length');
  const [height, width] = [word(segment, 1), word(segment, 3)];
  if (height === 0 || width === 0) throw new ForCores('no size');
  if (height > maxSide || width > maxSide) throw new ForCores('sides longer than libjpeg reads');
  return {
    width,
    height,
    components: Array.from({ length: components }, (_, i) => {
      const [id, sampling, quantisers] = segment.subarray(6 + 3 * i) as unknown as [number, number, number];
      const [across, down] = [sampling >> 4, sampling & 15];
      if (across < 1 || across > 4 || down < 1 || down > 4) throw new ForCores('a sampling factor out of range');
      return { id, across, down, quantisers };
    }),
  };
}

function readHuffmanTables(segment: Uint8Array, found: Segments): void {
  for (let at = 0; at < segment.length; ) {
    const place = segment[at]!;
    const counts = segment.subarray(at + 1, at + 17);
    const length = counts.reduce((sum, count) => sum + count, 0);
    const symbols = segment.subarray(at + 17, at + 17 + length);
    if (counts.length < 16 || symbols.length < length || length > 256) throw new ForCores('a Huffman table is cut off');
    const isDc = place < 16;
    const table = buildHuffmanTable(counts, symbols);
    if (!table || (place & 15) > 3 || place > 31) throw new ForCores('a Huffman table that there cannot be');
    if (isDc && symbols.some((symbol) => symbol > 15)) throw new ForCores('a DC difference of more than 15 bits');
    (isDc ? found.dc : found.ac)[place & 15] = table;
    at += 17 + length;
  }
}

function readQuantisers(segment: Uint8Array, into: (Uint16Array | undefined)[]): void {
  for (let at = 0; at < segment.length; ) {
    const [bytes, place] = [(segment[at]! >> 4) + 1, segment[at]! & 15];
    if (bytes > 2 || place > 3) throw new ForCores('a quantisation table that there cannot be');
    const values = segment.subarray(at + 1, at + 1 + 64 * bytes);
    if (values.length < 64 * bytes) throw new ForCores('a quantisation table is cut off');
    into[place] = Uint16Array.from({ length: 64 }, (_, i) => (bytes === 1 ? values[i]! : word(values, 2 * i)));
    at += 1 + 64 * bytes;
  }
}

/** Only what tells how colours are stored counts; libjpeg warns of a JFIF version that is not 1, and cores know better. */
function readApplication(kind: number, segment: Uint8Array, found: Segments): void {
  if (kind === marker.app0 && segment.length >= 14 && startsWith(segment, 'JFIF\0')) {
    if (segment[5] !== 1) throw new ForCores('a version of JFIF other than 1');
    found.isJfif = true;
  }
  if (kind === marker.app14 && segment.length >= 12 && startsWith(segment, 'Adobe')) found.transform = segment[11]!;
}

const startsWith = (segment: Uint8Array, text: string): boolean =>
  [...text].every((character, i) => segment[i] === character.charCodeAt(0));

/** The tables of each component: DC in bits 4 to 7, AC in bits 0 to 3. */
function readScan(segment: Uint8Array, { frame }: Segments): readonly number[] {
  if (!frame) throw new ForCores('a scan before its frame');
  const { components } = frame;
  const isWhole = segment[0] === components.length && segment.length === 4 + 2 * components.length;
  if (!isWhole) throw new ForCores('several scans');
  const [start, end, approximation] = segment.subarray(-3) as unknown as [number, number, number];
  if (start !== 0 || end !== 63 || approximation !== 0) throw new ForCores('a scan of some coefficients');
  if (new Set(components.map(({ id }) => id)).size < components.length)
    throw new ForCores('two components of one name');
  return components.map(({ id }, i) => {
    if (segment[1 + 2 * i] !== id) throw new ForCores('components in another order');
    return segment[2 + 2 * i]!;
  });
}

function layOut(found: Segments, selectors: readonly number[], dataStart: number, fileBytes: number): JpegFrame {
  const { width, height, components } = found.frame!;
  checkColours(found, components);
  const luma = components[0]!;
  const isGray = components.length === 1;
  if (components.some(({ across, down }) => across > luma.across || down > luma.down)) {
    throw new ForCores('luma is not at full resolution');
  }
  // A component that is alone has MCUs of one block, whatever its factors.
  const blocksOf = ({ across, down }: Component) => (isGray ? 1 : across * down);
  const [lumaAcross, lumaDown] = isGray ? [1, 1] : [luma.across, luma.down];
  const mcuBlocks = components.reduce((sum, component) => sum + blocksOf(component), 0);
  if (mcuBlocks > maxMcuBlocks) throw new ForCores('more blocks an MCU than libjpeg reads');
  const mcusAcross = Math.ceil(width / (8 * lumaAcross));
  const blocks = mcusAcross * Math.ceil(height / (8 * lumaDown)) * mcuBlocks;
  if (blocks * leastBlockBits > 8 * (fileBytes - dataStart)) throw new ForCores('less data than its size needs');
  const tables: HuffmanTable[] = [];
  const perBlock = (of: (HuffmanTable | undefined)[], shift: number): number[] =>
    components.flatMap((component, i) =>
      Array(blocksOf(component)).fill(numberOf(of[(selectors[i]! >> shift) & 15], tables)),
    );
  const quantisers = components.map((component) => found.quantisers[component.quantisers]);
  if (quantisers.includes(undefined)) throw new ForCores('a quantisation table is missing');
  const [dcTables, acTables] = [perBlock(found.dc, 4), perBlock(found.ac, 0)];
  if (tables.length > maxTables) throw new ForCores('more tables than devices hold');
  return {
    ...{ width, height, lumaAcross, lumaDown, mcusAcross, mcuBlocks, blocks },
    restartBlocks: found.restartMcus * mcuBlocks,
    ...{ tables, dcTables, acTables, quantisers: quantisers[0]!, dataStart },
  };
}

/** Whether three components are YCbCr, as libjpeg guesses it. */
function checkColours({ isJfif, transform }: Segments, components: readonly Component[]): void {
  if (components.length === 1 || isJfif) return;
  if (transform === undefined) {
    const ids = String.fromCharCode(...components.map(({ id }) => id));
    if (ids === 'RGB') throw new ForCores('RGB');
  } else if (transform !== 1) throw new ForCores(transform === 0 ? 'RGB' : 'an unknown colour transform');
}

/** The number of a table among those used so far, of which it is one from now on. */
function numberOf(table: HuffmanTable | undefined, tables: HuffmanTable[]): number {
  if (!table) throw new ForCores('a Huffman table is missing');
  if (!tables.includes(table)) tables.push(table);
  return tables.indexOf(table);
}

const word = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!;
