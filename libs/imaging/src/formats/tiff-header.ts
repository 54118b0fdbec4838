import { InputError, type InputFile } from '@halogrid/sources';
import { TiffReader } from './tiff-reader.ts';

/** What the first directory of a TIFF or BigTIFF says. */
export interface TiffHeader {
  width: number;
  height: number;
  /** Of every sample of a pixel; all equal. */
  bitsPerSample: number;
  /** 1 unsigned, 2 signed, 3 floating point. */
  sampleFormat: number;
  /** 1 none, 5 LZW, 7 JPEG, 8 Deflate… */
  compression: number;
  /** 0 and 1 gray, 2 RGB, 3 palette, 5 CMYK, 6 YCbCr… */
  photometric: number;
  /** Each channel is stored apart. */
  isPlanar: boolean;
  isDng: boolean;
  /** Undefined where rows are stored in strips. `count` is how many the file lists. */
  tiles: { width: number; height: number; count: number } | undefined;
}

const tags = {
  width: 256,
  height: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  planarConfiguration: 284,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  sampleFormat: 339,
  dngVersion: 50706,
} as const;

/** Classic TIFF and BigTIFF, in either byte order. Rejects with InputError. */
export async function readTiffHeader(file: InputFile): Promise<TiffHeader> {
  const reader = new TiffReader(file);
  const { entries } = await reader.readFirstDirectory();
  const first = async (tag: number, otherwise?: number): Promise<number> => {
    const entry = entries.get(tag);
    if (entry) return (await reader.integers(entry, 1))[0]!;
    if (otherwise === undefined) throw new InputError('decode', `The TIFF has no tag ${tag}, which every image needs`);
    return otherwise;
  };
  const bits = entries.get(tags.bitsPerSample);
  // One value a sample; five cover everything that is supported and show what is not.
  const bitsPerSample = bits ? await reader.integers(bits, 5) : [1];
  if (bitsPerSample.some((b) => b !== bitsPerSample[0])) {
    throw new InputError('decode', `Samples of different depths (${bitsPerSample.join(', ')} bits) are not supported`);
  }
  return {
    width: await first(tags.width),
    height: await first(tags.height),
    bitsPerSample: bitsPerSample[0]!,
    sampleFormat: await first(tags.sampleFormat, 1),
    compression: await first(tags.compression, 1),
    photometric: await first(tags.photometric, 1),
    isPlanar: (await first(tags.planarConfiguration, 1)) === 2,
    isDng: entries.has(tags.dngVersion),
    tiles: entries.has(tags.tileWidth)
      ? {
          width: await first(tags.tileWidth),
          height: await first(tags.tileHeight),
          count: entries.get(tags.tileOffsets)?.count ?? 0,
        }
      : undefined,
  };
}
