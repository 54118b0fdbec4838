import { InputError } from '@halogrid/sources';
import type { ByteSource } from './file-window.ts';

/** What the boxes around a codestream say of it. */
export interface Jp2Boxes {
  /** Where the codestream is. */
  start: number;
  end: number;
  /** What its colours are: undefined if the boxes do not say, as there are none around a plain codestream. */
  space: 'gray' | 'rgb' | undefined;
  /** Why its colours have no luma. */
  otherSpace: string | undefined;
  /** What each component is; empty if the boxes do not say. */
  channels: { component: number; kind: number; colour: number }[];
  palette: Jp2Palette | undefined;
}

/** Columns of a palette, of one value or of red, green and blue for each index. */
export interface Jp2Palette {
  columns: number;
  /** The bits of each column, less 1; signed from 128 on. */
  depths: Buffer;
  /** Values of 8 bits, row by row; empty for deeper columns. */
  values: Buffer;
  /** For each channel its component and its column; without a column, the component is the channel. */
  mapped: { component: number; column: number | undefined }[];
}

const maxBoxes = 2 ** 10;
const maxHeaderBytes = 2 ** 23;

const colourSpaces: Readonly<Record<number, 'gray' | 'rgb'>> = { 16: 'rgb', 17: 'gray' };
const otherSpaces: Readonly<Record<number, string>> = { 12: 'CMYK', 14: 'CIELab', 18: 'YCbCr (sYCC)', 20: 'e-sRGB' };

const damaged = (how: string): InputError => new InputError('decode', `The JPEG 2000 is damaged: ${how}`);

/** Reads the boxes of a file; a file may also be a codestream alone. Rejects with InputError. */
export async function readBoxes(source: ByteSource): Promise<Jp2Boxes> {
  const plain = { space: undefined, otherSpace: undefined, channels: [], palette: undefined };
  const { sizeBytes } = source;
  const head = await source.bytes(0, Math.min(4, sizeBytes), 'its first box');
  if (head.length === 4 && head.readUInt32BE(0) === 0xff4fff51) return { start: 0, end: sizeBytes, ...plain };
  let streams: { start: number; end: number }[] = [];
  let described: Omit<Jp2Boxes, 'start' | 'end'> = plain;
  let at = 0;
  for (let count = 0; at + 8 <= sizeBytes && count < maxBoxes; count++) {
    const { kind, start, end } = await boxAt(source, at);
    // What follows the codestream of a cut file is not read.
    if (kind === 'jp2c') streams = [...streams, { start, end }];
    if (kind === 'jp2h') {
      if (end - start > maxHeaderBytes) throw damaged(`its header (jp2h) has ${end - start} bytes`);
      described = readHeader(Buffer.from(await source.bytes(start, end - start, 'its header (jp2h)')));
    }
    at = end;
  }
  const [stream] = streams;
  if (!stream) throw damaged('it has no codestream (box jp2c)');
  if (streams.length > 1) {
    throw new InputError('decode', `A JPX of ${streams.length} codestreams is not supported: a JP2 of one is`);
  }
  return { ...stream, ...described };
}

async function boxAt(source: ByteSource, at: number): Promise<{ kind: string; start: number; end: number }> {
  const what = `the box at byte ${at}`;
  const head = await source.bytes(at, 8, what);
  const kind = head.toString('latin1', 4, 8);
  let length = head.readUInt32BE(0);
  let start = at + 8;
  if (length === 1) {
    length = Number((await source.bytes(at + 8, 8, what)).readBigUInt64BE(0));
    start += 8;
  } else if (length === 0) length = source.sizeBytes - at;
  const end = at + length;
  if (end < start) throw damaged(`the box at byte ${at} has a length of ${length}`);
  if (end > source.sizeBytes) {
    throw new InputError(
      'decode',
      `The JPEG 2000 is cut off or damaged: the box at byte ${at} ends at byte ${end}, and the file at byte ${source.sizeBytes}`,
    );
  }
  return { kind, start, end };
}

/** Reads the boxes inside jp2h. Throws InputError. */
function readHeader(bytes: Buffer): Omit<Jp2Boxes, 'start' | 'end'> {
  const boxes = new Map<string, Buffer>();
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at) || bytes.length - at;
    if (length < 8 || at + length > bytes.length) throw damaged('a box of its header (jp2h) has a wrong length');
    const kind = bytes.toString('latin1', at + 4, at + 8);
    // The first of a kind counts, as the first description of colours must be understood by all readers.
    if (!boxes.has(kind)) boxes.set(kind, bytes.subarray(at + 8, at + length));
    at += length;
  }
  const space = readSpace(boxes.get('colr'));
  return {
    space: space === 'gray' || space === 'rgb' ? space : undefined,
    otherSpace: space === 'gray' || space === 'rgb' ? undefined : space,
    channels: readChannels(boxes.get('cdef')),
    palette: readPalette(boxes.get('pclr'), boxes.get('cmap')),
  };
}

/** Gray, RGB, or the name of another space; undefined if none is stated. */
function readSpace(box: Buffer | undefined): string | undefined {
  if (!box || box.length < 7) return undefined;
  if (box[0] === 1) {
    const number = box.readUInt32BE(3);
    return colourSpaces[number] ?? otherSpaces[number] ?? `the colour space ${number}`;
  }
  // The colour space of a profile is 16 bytes from its beginning.
  const name = box.toString('latin1', 19, 23);
  if (name === 'RGB ') return 'rgb';
  if (name === 'GRAY') return 'gray';
  return /^[ -~]{4}$/.test(name) ? `the colours ${name.trim()} of its profile` : undefined;
}

function readChannels(box: Buffer | undefined): Jp2Boxes['channels'] {
  if (!box || box.length < 2) return [];
  const count = Math.min(box.readUInt16BE(0), Math.floor((box.length - 2) / 6));
  return Array.from({ length: count }, (_, i) => ({
    component: box.readUInt16BE(2 + 6 * i),
    kind: box.readUInt16BE(4 + 6 * i),
    colour: box.readUInt16BE(6 + 6 * i),
  }));
}

function readPalette(box: Buffer | undefined, map: Buffer | undefined): Jp2Palette | undefined {
  if (!box) return undefined;
  const [rows, columns] = box.length < 3 ? [0, 0] : [box.readUInt16BE(0), box[2]!];
  const depths = box.subarray(3, 3 + columns);
  const isBytes = depths.length > 0 && depths.every((depth) => depth === 7);
  const values = isBytes ? box.subarray(3 + columns, 3 + columns + rows * columns) : Buffer.alloc(0);
  if (rows === 0 || columns === 0 || (isBytes && values.length < rows * columns) || !map) {
    throw damaged('its palette makes no sense (boxes pclr and cmap)');
  }
  const mapped = Array.from({ length: Math.floor(map.length / 4) }, (_, i) => ({
    component: map.readUInt16BE(4 * i),
    column: map[4 * i + 2] === 1 ? map[4 * i + 3]! : undefined,
  }));
  return { columns, depths, values, mapped };
}
