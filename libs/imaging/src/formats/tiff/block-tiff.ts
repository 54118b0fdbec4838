import { InputError } from '@halogrid/sources';
import { loadSharp } from '../../load-sharp.ts';
import { tiffTags } from './tag-names.ts';

/** A small TIFF that holds compressed blocks of one width, one below the other. */
export interface BlockTiff {
  width: number;
  /** Rows of each block; all but the last have as many as the first. */
  rows: readonly number[];
  bits: number;
  /** Samples of a pixel. */
  samples: number;
  compression: number;
  photometric: number;
  /** More tags, of one or two SHORT or one LONG each. */
  tags?: readonly (readonly [tag: number, values: readonly number[]])[];
  jpegTables?: Uint8Array;
}

const fieldBytes = 12;
const [short, long, undefinedType] = [3, 4, 7];

/**
 * Makes the bytes of that TIFF. `blocks` has the bytes of all blocks one after another; `lengths` has the number of
 * bytes of each. The decoder gets nothing else of the original file.
 */
export function makeBlockTiff(tiff: BlockTiff, blocks: Buffer, lengths: readonly number[]): Buffer {
  const { width, rows, bits, samples, tags = [], jpegTables } = tiff;
  const strips = rows.length;
  const extra = samples === 2 || samples === 4 ? [[tiffTags.ExtraSamples, short, [0]] as const] : [];
  const places = Array.from({ length: strips }, () => 0);
  const fields = [
    [tiffTags.ImageWidth, long, [width]],
    [tiffTags.ImageLength, long, [rows.reduce((sum, more) => sum + more)]],
    [tiffTags.BitsPerSample, short, Array.from({ length: samples }, () => bits)],
    [tiffTags.Compression, short, [tiff.compression]],
    [tiffTags.PhotometricInterpretation, short, [tiff.photometric]],
    [tiffTags.StripOffsets, long, places],
    [tiffTags.SamplesPerPixel, short, [samples]],
    [tiffTags.RowsPerStrip, long, [rows[0]!]],
    [tiffTags.StripByteCounts, long, lengths],
    ...extra,
    ...tags.map(([tag, values]) => [tag, tag === tiffTags.YCbCrSubSampling ? short : long, values] as const),
    ...(jpegTables ? [[tiffTags.JPEGTables, undefinedType, [...jpegTables]] as const] : []),
  ].toSorted(([a], [b]) => (a as number) - (b as number)) as [number, number, number[]][];
  const sizes: Record<number, 1 | 2 | 4> = { [short]: 2, [long]: 4, [undefinedType]: 1 };
  const valuesAt = 8 + 2 + fields.length * fieldBytes + 4;
  const outside = fields.map(([, type, { length }]) => (length * sizes[type]! > 4 ? length * sizes[type]! : 0));
  const blocksAt = valuesAt + outside.reduce((sum, more) => sum + more + (more & 1));
  const file = Buffer.alloc(blocksAt);
  for (let i = 0, at = blocksAt; i < strips; at += lengths[i++]!) places[i] = at;
  file.write('II*\0\x08\0\0\0', 'latin1');
  file.writeUInt16LE(fields.length, 8);
  let free = valuesAt;
  for (const [i, [tag, type, values]] of fields.entries()) {
    const at = 10 + i * fieldBytes;
    file.writeUInt16LE(tag, at);
    file.writeUInt16LE(type, at + 2);
    file.writeUInt32LE(values.length, at + 4);
    let to = at + 8;
    if (outside[i]! > 0) {
      file.writeUInt32LE(free, at + 8);
      to = free;
      free += outside[i]! + (outside[i]! & 1);
    }
    for (const [k, value] of values.entries()) file.writeUIntLE(value, to + k * sizes[type]!, sizes[type]!);
  }
  return Buffer.concat([file, blocks]);
}

/**
 * Decodes all rows, or a part of the rows, to gray or interleaved RGB of 8 bits, rows without gaps. Rejects with
 * InputError and the message `whyNot`. The messages of libvips are not used, because all images of a process share its
 * buffer of errors and queue of warnings.
 */
export async function decodeBlockTiff(
  file: Buffer,
  { width, rows, samples }: BlockTiff,
  part: readonly [from: number, to: number] | undefined,
  whyNot: string,
): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const channels = samples < 3 ? 1 : 3;
  const [from, to] = part ?? [0, rows.reduce((sum, more) => sum + more)];
  const whole = sharp(file, { failOn: 'warning', limitInputPixels: false, unlimited: true, ignoreIcc: true });
  const image = (part ? whole.extract({ left: 0, top: from, width, height: to - from }) : whole)
    .removeAlpha()
    // Without this, gray comes out as RGB.
    .toColourspace(channels === 1 ? 'b-w' : 'srgb');
  const { data, info } = await image
    .raw()
    .toBuffer({ resolveWithObject: true })
    .catch(() => {
      throw new InputError('decode', whyNot);
    });
  if (info.width !== width || info.height !== to - from || info.channels !== channels) {
    throw new Error(`libvips gave ${info.width}x${info.height}x${info.channels} pixels for ${width}x${to - from}`);
  }
  return new Uint8Array(data.buffer, data.byteOffset, data.length);
}
