import { crc32 } from 'node:zlib';
import type { SeededRandom } from '../../apps/coordinator/src/testing/simulation/seeded-random.ts';
import { type Mutation, writeNumber } from './mutate-bytes.ts';

// Changes numbers in headers, so that a decoder goes on with the unchanged rest of the file.

/** A number in a file. */
interface Field {
  at: number;
  /** 1, 2, 4 or 8. */
  size: number;
}

/** Writes an edge number into one or two fields of the headers. A file without known fields stays as it is. */
export const mutateHeaders: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const fields = fieldsOf(bytes).filter(({ at, size }) => at + size <= bytes.length);
  if (fields.length === 0) return changed;
  for (let i = random.whole(1, 2); i > 0; i--) change(changed, random.pick(fields), random);
  return changed;
};

function change(bytes: Buffer, { at, size }: Field, random: SeededRandom): void {
  // In headers of text, changes one character, so that a number has a digit more, less or different.
  if (isPnm(bytes)) bytes[at] = random.pick([...Buffer.from('0189- #\n')]);
  // Decoders read further with sizes that are slightly wrong than with impossible sizes.
  else if (random.chance(0.3)) bytes[at + random.whole(0, size - 1)]! += random.pick([1, 255, 16]);
  else writeNumber(bytes, at, size, random);
}

/** Every known number in the headers of an image or a video; empty for other files. */
export function fieldsOf(bytes: Buffer): Field[] {
  const head = bytes.toString('latin1', 0, 16);
  if (head.startsWith('\xff\xd8')) return jpegFields(bytes);
  if (head.startsWith('\x89PNG')) return [...pngChunks(bytes)].flatMap(({ at }) => pngFields(bytes, at));
  if (/^(II|MM)/.test(head)) return tiffFields(bytes);
  if (isPnm(bytes)) return Array.from({ length: 32 }, (_, at) => ({ at, size: 1 })).slice(1);
  if (head.startsWith('RIFF')) return head.includes('WEBP') ? webpFields(bytes) : aviFields(bytes);
  if (head.slice(4, 8) === 'ftyp') return boxFields(bytes, 0, bytes.length);
  if (head.slice(4, 6) === 'jP') return jp2Fields(bytes);
  return [];
}

const isPnm = (bytes: Buffer): boolean => /^P[2356]/.test(bytes.toString('latin1', 0, 2));

/** Lengths of segments, and the numbers in segments of frames, scans, tables and restarts. */
function jpegFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = 2; at + 4 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const kind = bytes[at + 1]!;
    fields.push({ at: at + 2, size: 2 });
    // SOF0..2: bits, height, width, number of components, and for each component its factors and table.
    if (kind >= 0xc0 && kind <= 0xc2) fields.push({ at: at + 5, size: 2 }, { at: at + 7, size: 2 });
    const length = Math.min(bytes.readUInt16BE(at + 2), 24);
    for (let i = 2; i < length; i++) fields.push({ at: at + 2 + i, size: 1 });
    if (kind === 0xda) break;
  }
  return fields;
}

function pngFields(bytes: Buffer, at: number): Field[] {
  if (bytes.toString('latin1', at + 4, at + 8) !== 'IHDR') return [{ at, size: 4 }];
  const ofHeader = [8, 12].map((offset) => ({ at: at + offset, size: 4 }));
  return [{ at, size: 4 }, ...ofHeader, ...[16, 17, 18, 19, 20].map((offset) => ({ at: at + offset, size: 1 }))];
}

/** The range of each chunk of a PNG, which begins with its length, as far as the chain of chunks can be followed. */
function* pngChunks(bytes: Buffer): Generator<{ at: number; end: number }> {
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) return;
    yield { at, end };
    at = end;
  }
}

/** Corrects the checksums of changed chunks of a PNG. Other files stay as they are. */
export function mendChecksums(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', 1, 4) !== 'PNG') return bytes;
  const mended = Buffer.from(bytes);
  for (const { at, end } of pngChunks(mended)) mended.writeUInt32BE(crc32(mended.subarray(at + 4, end - 4)), end - 4);
  return mended;
}

/** The first directory of a TIFF: where its offset is stated, where it begins, and its entries. */
function tiffDirectory(bytes: Buffer) {
  const isLittle = bytes[0] === 0x49;
  const isBig = bytes[isLittle ? 2 : 3] === 43;
  const read = (at: number, size: number): number => {
    if (at + size > bytes.length) return 0;
    const digits = bytes.subarray(at, at + size);
    return [...(isLittle ? digits : Buffer.from(digits).reverse())].reduce(
      (sum, digit, i) => sum + digit * 256 ** i,
      0,
    );
  };
  const word = isBig ? 8 : 4;
  const told: Field = { at: word, size: word };
  const start: Field = { at: read(word, word), size: isBig ? 8 : 2 };
  const entries = Array.from({ length: Math.min(read(start.at, start.size), 40) }, (_, i) => {
    const at = start.at + start.size + i * (4 + 2 * word);
    const size = { 1: 1, 3: 2, 16: 8 }[read(at + 2, 2)] ?? 4;
    const count = read(at + 4, word);
    const values = count * size <= word ? at + 4 + word : read(at + 4 + word, word);
    return { tag: read(at, 2), at, size, count, values };
  });
  return { isLittle, word, told, start, entries };
}

/** Entries of the first directory, and the values that they point to. */
function tiffFields(bytes: Buffer): Field[] {
  const { word, told, start, entries } = tiffDirectory(bytes);
  return [
    told,
    start,
    ...entries.flatMap(({ at, size, count, values }) => [
      { at, size: 2 },
      { at: at + 2, size: 2 },
      { at: at + 4, size: word },
      { at: at + 4 + word, size },
      ...(count * size <= word
        ? []
        : Array.from({ length: Math.min(count, 4) }, (_, i) => ({ at: values + i * size, size }))),
    ]),
  ];
}

/** Values that occur in files, by tag: sizes of small pictures, and all values that say how samples are stored. */
const tiffValues: Readonly<Record<number, readonly number[]>> = {
  254: [0, 1, 4],
  256: [1, 16, 32, 36, 38, 100],
  257: [8, 16, 20, 22, 100],
  258: [1, 2, 4, 8, 16],
  259: [1, 2, 3, 4, 5, 7, 8, 32773, 32946],
  262: [0, 1, 2, 3, 6],
  266: [1, 2],
  277: [1, 2, 3, 4, 5, 7, 9],
  278: [1, 7, 8, 9, 16, 21, 32, 1000],
  284: [1, 2],
  317: [1, 2, 3],
  322: [16, 24, 32, 48],
  323: [8, 16, 32],
  338: [0, 1, 2],
  339: [1, 2, 4],
  530: [1, 2, 4],
};

/**
 * Changes one or two tags of a TIFF that say how it is stored, to another value that occurs in files. In a tag with
 * several values, it changes one.
 */
export const mutateTags: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const { isLittle, entries } = tiffDirectory(bytes);
  const known = entries.filter(({ tag, values, size }) => tiffValues[tag] && values + size <= bytes.length);
  for (let i = random.whole(1, 2); i > 0 && known.length > 0; i--) {
    const { tag, size, count, values } = random.pick(known);
    const value = random.pick(tiffValues[tag]!);
    for (let k = 0; k < Math.min(count, 16) && values + (k + 1) * size <= bytes.length; k++) {
      if (tag === 530 && random.chance(0.5)) continue;
      changed.fill(0, values + k * size, values + (k + 1) * size);
      if (size === 1) changed[values + k] = value;
      else if (isLittle) changed.writeUInt16LE(value, values + k * size);
      else changed.writeUInt16BE(value, values + (k + 1) * size - 2);
    }
  }
  return changed;
};

/** Sizes of chunks, and the first bytes of each chunk, which hold the size of the image. */
function webpFields(bytes: Buffer): Field[] {
  const fields: Field[] = [{ at: 4, size: 4 }];
  for (let at = 12; at + 8 < bytes.length; at += 8 + bytes.readUInt32LE(at + 4) + (bytes.readUInt32LE(at + 4) % 2)) {
    fields.push({ at: at + 4, size: 4 });
    for (let i = 0; i < 12; i++) fields.push({ at: at + 8 + i, size: 1 });
  }
  return fields;
}

/** Sizes of the lists and chunks of an AVI, found by their four-letter names, and the numbers in its headers. */
function aviFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  const names = ['RIFF', 'LIST', 'avih', 'strh', 'strf', 'idx1', '00dc', 'indx'];
  for (const name of names) {
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 4)) {
      fields.push({ at: at + 4, size: 4 });
      if (/^(avih|str|idx1)/.test(name)) for (let i = 8; i < 56; i += 4) fields.push({ at: at + i, size: 4 });
    }
  }
  return fields;
}

/** Sizes of the boxes of a JPEG 2000, and the numbers in them, in its main header, and at the beginnings of tiles. */
function jp2Fields(bytes: Buffer): Field[] {
  const start = bytes.indexOf('ff4fff51', 0, 'hex');
  const tiles = bytes.indexOf('ff90000a', start, 'hex');
  const fields = boxFields(bytes, 12, start - 8);
  for (let at = 40; at < tiles; at++) fields.push({ at, size: 1 });
  for (let at = start + 8; at < start + 40; at += 4) fields.push({ at, size: 4 });
  for (let at = tiles; at >= 0; at = bytes.indexOf('ff90000a', at + 1, 'hex')) {
    fields.push({ at: at + 4, size: 2 }, { at: at + 6, size: 4 }, { at: at + 10, size: 1 }, { at: at + 11, size: 1 });
  }
  return fields;
}

/** Sizes of the boxes of an MP4, and the first numbers in its tables. */
function boxFields(bytes: Buffer, from: number, to: number): Field[] {
  const fields: Field[] = [];
  for (let at = from; at + 8 <= to; ) {
    const size = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    fields.push({ at, size: 4 });
    const end = Math.min(to, at + Math.max(8, size));
    if (/^(moov|trak|mdia|minf|stbl|edts|dinf)$/.test(name)) fields.push(...boxFields(bytes, at + 8, end));
    else if (name !== 'mdat')
      for (let i = at + 8; i + 4 <= Math.min(end, at + 64); i += 4) fields.push({ at: i, size: 4 });
    at = end;
  }
  return fields;
}
