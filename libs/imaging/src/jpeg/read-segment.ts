import { buildHuffmanTable, type HuffmanTable } from './huffman-table.ts';
import { huffmanFrames, marker } from './markers.ts';

/** The longest side that libjpeg takes. */
const maxSide = 65_500;

export interface Component {
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
export interface Segments {
  quantisers: (Uint16Array | undefined)[];
  dc: (HuffmanTable | undefined)[];
  ac: (HuffmanTable | undefined)[];
  frame?: StartOfFrame;
  restartMcus: number;
  isJfif: boolean;
  /** The colour transform that an Adobe marker names. */
  transform?: number;
}

/** The file is not of the common kind: baseline, in gray or YCbCr, and complete. */
export class Unusual extends Error {}

/** Reads a segment of the header; `kind` is the second byte of its marker. Throws Unusual. */
export function readSegment(kind: number, segment: Uint8Array, found: Segments): void {
  if (huffmanFrames.includes(kind)) {
    if (found.frame) throw new Unusual('two frames');
    found.frame = readStartOfFrame(segment);
  } else if (kind === marker.dht) readHuffmanTables(segment, found);
  else if (kind === marker.dqt) readQuantisers(segment, found.quantisers);
  else if (kind === marker.dri) {
    if (segment.length !== 2) throw new Unusual('a restart interval of another length');
    found.restartMcus = word(segment, 0);
  } else if (kind >= marker.app0 && kind <= marker.app15) readApplication(kind, segment, found);
  else if (kind !== marker.com) throw new Unusual(`marker ${kind.toString(16)}`);
}

function readStartOfFrame(segment: Uint8Array): StartOfFrame {
  const [precision, components] = [segment[0], segment[5]];
  if (precision !== 8) throw new Unusual('samples of other than 8 bits');
  if (components !== 1 && components !== 3) throw new Unusual('neither gray nor YCbCr');
  if (segment.length !== 6 + 3 * components) throw new Unusual('a frame header of another length');
  const [height, width] = [word(segment, 1), word(segment, 3)];
  if (height === 0 || width === 0) throw new Unusual('no size');
  if (height > maxSide || width > maxSide) throw new Unusual('sides longer than libjpeg reads');
  return {
    width,
    height,
    components: Array.from({ length: components }, (_, i) => {
      const [id, sampling, quantisers] = segment.subarray(6 + 3 * i) as unknown as [number, number, number];
      const [across, down] = [sampling >> 4, sampling & 15];
      if (across < 1 || across > 4 || down < 1 || down > 4) throw new Unusual('a sampling factor out of range');
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
    if (counts.length < 16 || symbols.length < length || length > 256) throw new Unusual('a Huffman table is cut off');
    const isDc = place < 16;
    const table = buildHuffmanTable(counts, symbols);
    if (!table || (place & 15) > 3 || place > 31) throw new Unusual('a Huffman table that there cannot be');
    if (isDc && symbols.some((symbol) => symbol > 15)) throw new Unusual('a DC difference of more than 15 bits');
    (isDc ? found.dc : found.ac)[place & 15] = table;
    at += 17 + length;
  }
}

function readQuantisers(segment: Uint8Array, into: (Uint16Array | undefined)[]): void {
  for (let at = 0; at < segment.length; ) {
    const [bytes, place] = [(segment[at]! >> 4) + 1, segment[at]! & 15];
    if (bytes > 2 || place > 3) throw new Unusual('a quantisation table that there cannot be');
    const values = segment.subarray(at + 1, at + 1 + 64 * bytes);
    if (values.length < 64 * bytes) throw new Unusual('a quantisation table is cut off');
    const table = new Uint16Array(64);
    for (let i = 0; i < 64; i++) table[i] = bytes === 1 ? values[i]! : word(values, 2 * i);
    into[place] = table;
    at += 1 + 64 * bytes;
  }
}

/**
 * Reads only how colours are stored. libjpeg warns of a JFIF version that is not 1, which decoders on cores know to
 * ignore.
 */
function readApplication(kind: number, segment: Uint8Array, found: Segments): void {
  if (kind === marker.app0 && segment.length >= 14 && startsWith(segment, 'JFIF\0')) {
    if (segment[5] !== 1) throw new Unusual('a version of JFIF other than 1');
    found.isJfif = true;
  }
  if (kind === marker.app14 && segment.length >= 12 && startsWith(segment, 'Adobe')) found.transform = segment[11]!;
}

const startsWith = (segment: Uint8Array, text: string): boolean =>
  [...text].every((character, i) => segment[i] === character.charCodeAt(0));

const word = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!;
