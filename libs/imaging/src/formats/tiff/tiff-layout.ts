import type { PixelType } from '@halogrid/geometry';
import type { ReadOptions, SampleScale } from '../../planes/read-options.ts';
import { whyNoBand } from '../../planes/why-no-band.ts';

/**
 * The tags that decide how the pixels of a TIFF are stored. ExtraSamples and samples besides the colours make no
 * difference.
 */
export interface TiffStorage {
  /** One value, or one a sample. */
  bitsPerSample: readonly number[];
  /** 1 unsigned, 2 signed, 3 floating point, 4 undefined; one value, or one a sample. */
  sampleFormat: readonly number[];
  compression: number;
  photometric: number | undefined;
  samplesPerPixel: number;
  /** 2: each sample has separate blocks. */
  planarConfiguration: number;
  fillOrder: number;
  predictor: number;
  /** Pixels for each sample of chroma, across and down. */
  subsampling: readonly number[];
  isDng: boolean;
}

/** How the pixels of a TIFF are read. A block is a strip or a tile. */
export interface TiffLayout {
  pixel: PixelType;
  colours: 'gray' | 'rgb' | 'palette' | 'ycbcr';
  /** Gray in which 0 is white. */
  isInverted: boolean;
  bits: number;
  kind: SampleKind;
  /** How samples become pixels; absent: they are pixels, or are expanded to 8 bits. */
  scale: SampleScale | undefined;
  /**
   * The samples of the bands that are read, or the one with which the colours begin: in the block of a pixel, or as the
   * numbers of planes. One of the lists has one entry.
   */
  firstSamples: readonly number[];
  firstPlanes: readonly number[];
  /** Samples of a pixel in a block. */
  samples: number;
  /** The number of blocks that make colours of the same pixels: one for each sample. */
  planes: 1 | 3;
  /**
   * How the bytes of a block are decoded: `stored` bytes are used as they are, `packed` ones and `zstd` are
   * decompressed to such bytes, `lerc` is decoded to them, `fax` gives black and white, `picture` gives gray or RGB of
   * 8 bits, and `jp2` gives the samples, or RGB of YCbCr.
   */
  coding: 'stored' | 'packed' | 'zstd' | 'lerc' | 'fax' | 'picture' | 'jp2';
  /** The first bit of each byte is the lowest. */
  isReversed: boolean;
  /** Each sample is stored as the difference from the previous pixel. */
  isDifferences: boolean;
  /** The bytes of floating-point samples are stored by their rank, as differences (Predictor 3). */
  isByRank: boolean;
  /** Pixels for each sample of chroma, across and down, if these are packed together. */
  unit: readonly [number, number];
}

/** Methods that compress bytes: LZW, Deflate, PackBits. */
export const deflate: readonly number[] = [8, 32946];
const packed = [5, 32773, ...deflate];
const zstd = 50000;
const lerc = 34887;
/** The methods for which Predictor is defined: LZW, Deflate and Zstandard. */
export const predicted: readonly number[] = [5, ...deflate, zstd];
const fax = [2, 3, 4];
export const jpeg = 7;
const webp = 50001;
/** JPEG 2000 in YCbCr, as Aperio numbers it; and all of JPEG 2000, as Aperio and Leadtools number it. */
export const jp2Ycbcr = 33003;
const jp2: readonly number[] = [jp2Ycbcr, 33005, 34712];

/** Values of PhotometricInterpretation. */
export const ycbcr = 6;

const unsupportedCompressions: Readonly<Record<number, string>> = {
  6: 'old-style JPEG',
  32766: 'NeXT',
  // libtiff cannot always read back what it writes in this form.
  32771: 'fax in words of 16 bits',
  32809: 'ThunderScan',
  33004: 'JPEG 2000 without a stated colour',
  34661: 'JBIG',
  34676: 'SGI LogLuv',
  34677: 'SGI LogLuv',
  34925: 'LZMA',
  50002: 'JPEG XL',
};

const unsupportedPhotometrics: Readonly<Record<number, string>> = {
  4: 'a mask',
  5: 'CMYK',
  8: 'CIELab',
  9: 'ICCLab',
  10: 'ITULab',
  32803: 'raw sensor data',
};

const colourNames = { gray: 'gray', rgb: 'RGB', palette: 'a palette', ycbcr: 'YCbCr' } as const;

/** How numbers are stored. */
export type SampleKind = 'unsigned' | 'signed' | 'float';

/** How the pixels of a TIFF with this storage are read, or a sentence that says why they cannot be. */
export function tiffLayout(storage: TiffStorage, { band, scale }: ReadOptions = {}): TiffLayout | string {
  const { compression, photometric, samplesPerPixel, fillOrder, planarConfiguration } = storage;
  const coding = codingOf(compression);
  if (!coding) {
    const name = unsupportedCompressions[compression] ?? compression;
    return `A TIFF compressed as ${name} is not supported: LZW, Deflate, Zstandard, LERC, PackBits, JPEG, JPEG 2000, WebP, fax and none are`;
  }
  if (storage.isDng) return 'DNG is not supported: of TIFF, gray, RGB, palette and YCbCr are';
  const numbers = numbersOf(storage, scale);
  if (typeof numbers === 'string') return numbers;
  const { bits, kind } = numbers;
  if (photometric === undefined) {
    return 'The TIFF has no tag 262 (PhotometricInterpretation), which says what its samples mean';
  }
  const stored = (['gray', 'gray', 'rgb', 'palette', undefined, undefined, 'ycbcr'] as const)[photometric];
  if (!stored) {
    const name = unsupportedPhotometrics[photometric] ?? `photometric interpretation ${photometric}`;
    return `A TIFF in ${name} has no defined luma: gray, RGB, palette and YCbCr have`;
  }
  const usual = stored === 'gray' || stored === 'palette' ? 1 : 3;
  if (samplesPerPixel < usual) {
    return `The TIFF is damaged: ${colourNames[stored]} of ${samplesPerPixel} samples a pixel (SamplesPerPixel)`;
  }
  if (bits === 16 && stored === 'palette') return 'A palette of 16-bit samples is not supported: 1, 2, 4 and 8-bit are';
  if (planarConfiguration !== 1 && planarConfiguration !== 2) {
    return `The TIFF is damaged: its PlanarConfiguration is ${planarConfiguration}, where 1 and 2 are allowed`;
  }
  if (fillOrder !== 1 && fillOrder !== 2) {
    return `The TIFF is damaged: its FillOrder is ${fillOrder}, where 1 and 2 are allowed`;
  }
  const isSeparate = planarConfiguration === 2 && samplesPerPixel > 1;
  const samples = isSeparate ? 1 : samplesPerPixel;
  const predictor = predicted.includes(compression) ? storage.predictor : 1;
  const isPicture = coding === 'picture';
  const isDecoded = compression === jp2Ycbcr || (isPicture && !isSeparate);
  const isYcbcr = stored === 'ycbcr' && !isDecoded;
  const unit = isYcbcr ? ([storage.subsampling[0]!, storage.subsampling[1]!] as const) : ([1, 1] as const);
  const refusal =
    whyNoPicture(storage, bits, samples) ??
    whyNoFax(coding, bits, samples) ??
    whyNoJp2(compression, stored, bits, samples) ??
    whyNoLerc(coding, bits, stored) ??
    whyNoPrediction(predictor, numbers, unit) ??
    whyNotChosen(stored === 'palette' || isYcbcr ? stored : undefined, { band, scale }) ??
    (band && whyNoBand(band, bandsOf(storage), 'TIFF')) ??
    (stored === 'ycbcr' ? whyNoYcbcr(bits, samplesPerPixel, isSeparate, unit) : undefined);
  if (refusal) return refusal;
  const colours = band ? 'gray' : stored === 'ycbcr' && !isYcbcr ? 'rgb' : stored;
  const first = band?.numbers.map((number) => number - 1) ?? [0];
  return {
    pixel: (scale?.bits ?? bits) === 16 ? 'u16' : 'u8',
    colours,
    isInverted: photometric === 0,
    bits,
    kind,
    scale,
    firstSamples: isSeparate ? [0] : first,
    firstPlanes: isSeparate ? first : [0],
    samples,
    planes: isSeparate && usual === 3 && !band ? 3 : 1,
    coding,
    isReversed: fillOrder === 2 && compression !== jpeg,
    isDifferences: predictor === 2,
    isByRank: predictor === 3,
    unit,
  };
}

function codingOf(compression: number): TiffLayout['coding'] | undefined {
  if (compression === 1) return 'stored';
  if (packed.includes(compression)) return 'packed';
  if (compression === zstd) return 'zstd';
  if (compression === lerc) return 'lerc';
  if (compression === jpeg || compression === webp) return 'picture';
  if (jp2.includes(compression)) return 'jp2';
  return fax.includes(compression) ? 'fax' : undefined;
}

/** The bits of a sample that are read with a scale, by the kind of number. */
const scaledBits: Readonly<Record<SampleKind, readonly number[]>> = {
  unsigned: [1, 2, 4, 8, 16, 32],
  signed: [8, 16, 32],
  float: [32, 64],
};

/** The numbers that all samples are, or why they are not read. */
function numbersOf(
  { bitsPerSample, sampleFormat }: TiffStorage,
  scale: SampleScale | undefined,
): { bits: number; kind: SampleKind } | string {
  const bits = bitsPerSample[0]!;
  if (bitsPerSample.some((other) => other !== bits)) {
    return `Samples of different depths (${listed(bitsPerSample)} bits) are not supported`;
  }
  const format = sampleFormat[0]!;
  if (sampleFormat.some((other) => other !== format)) {
    return `Samples of different formats (SampleFormat ${listed(sampleFormat)}) are not supported`;
  }
  // All known readers read undefined samples (4) as unsigned.
  const kind = (['unsigned', 'signed', 'float', 'unsigned'] as const)[format - 1];
  if (!kind) return `Samples of format ${format} (SampleFormat) are not supported: unsigned ones are`;
  const name = `${bits}-bit ${kind === 'float' ? 'floating-point' : kind} samples`;
  if (!scaledBits[kind].includes(bits)) {
    return `${name} are not supported: ${listed(scaledBits[kind])}-bit ones are${kind === 'unsigned' ? '' : ', with --scale MIN,MAX'}`;
  }
  if (!scale && (kind !== 'unsigned' || bits > 16)) {
    return `${name} need --scale MIN,MAX: the values that become black and white`;
  }
  return { bits, kind };
}

/** Why samples of these colours are neither bands nor values to scale. */
function whyNotChosen(colours: 'palette' | 'ycbcr' | undefined, { band, scale }: ReadOptions): string | undefined {
  if (!colours || !(band || scale)) return undefined;
  return `The samples of a TIFF in ${colourNames[colours]} have no ${band ? 'bands (--band)' : 'scale (--scale)'}: those in gray and RGB have`;
}

/** The number of bands of a page in gray or RGB. */
export function bandsOf({ compression, planarConfiguration, samplesPerPixel }: TiffStorage): number {
  const isPicture = codingOf(compression) === 'picture' && !(planarConfiguration === 2 && samplesPerPixel > 1);
  // Pictures are decoded without alpha: to gray, or to red, green and blue.
  return isPicture ? (samplesPerPixel < 3 ? 1 : 3) : samplesPerPixel;
}

const listed = (values: readonly number[]): string =>
  values.length > 8 ? `${values.slice(0, 8).join(', ')}, …` : values.join(', ');

function whyNoPicture({ compression, photometric }: TiffStorage, bits: number, samples: number): string | undefined {
  if (compression !== jpeg && compression !== webp) return undefined;
  const [name, allowed] = compression === jpeg ? ['JPEG', [1, 2, 3, 4]] : ['WebP', [3, 4]];
  if (bits !== 8) return `${bits}-bit samples in ${name} are not supported: 8-bit ones are`;
  if (photometric === 3) return `A palette in ${name} is not supported: gray and colours are`;
  if (photometric === ycbcr && compression === webp) return 'YCbCr in WebP is not supported: RGB is';
  if (allowed.includes(samples)) return undefined;
  return `${samples} samples in a block of ${name} are not supported: ${allowed.join(', ')} are`;
}

function whyNoFax(coding: TiffLayout['coding'], bits: number, samples: number): string | undefined {
  if (coding !== 'fax' || (bits === 1 && samples === 1)) return undefined;
  return `Fax of ${samples} samples of ${bits} bits is not supported: it is defined for one sample of 1 bit`;
}

function whyNoJp2(
  compression: number,
  colours: TiffLayout['colours'],
  bits: number,
  samples: number,
): string | undefined {
  if (!jp2.includes(compression)) return undefined;
  if (compression === jp2Ycbcr) {
    // Its blocks state no colours, and writers state RGB or YCbCr for the file.
    if ((colours === 'rgb' || colours === 'ycbcr') && bits === 8 && samples === 3) return undefined;
    return `JPEG 2000 in YCbCr (33003) of ${samples} samples of ${bits} bits in a block, in a TIFF in ${colourNames[colours]}, is not supported: 3 samples of 8 bits in RGB or YCbCr are`;
  }
  if (colours !== 'gray' && colours !== 'rgb') {
    return `A TIFF in ${colourNames[colours]} compressed as JPEG 2000 is not supported: gray and RGB are`;
  }
  if (bits !== 8 && bits !== 16) return `${bits}-bit samples in JPEG 2000 are not supported: 8 and 16-bit ones are`;
  if (samples === 1 || samples === 3) return undefined;
  return `${samples} samples in a block of JPEG 2000 are not supported: 1 and 3 are`;
}

function whyNoLerc(coding: TiffLayout['coding'], bits: number, colours: string): string | undefined {
  if (coding !== 'lerc') return undefined;
  if (bits < 8) return `${bits}-bit samples in LERC are not supported: it is defined for 8 bits and more`;
  return colours === 'ycbcr' ? 'YCbCr in LERC is not supported: RGB is' : undefined;
}

function whyNoPrediction(
  predictor: number,
  { bits, kind }: { bits: number; kind: SampleKind },
  unit: readonly [number, number],
): string | undefined {
  if (predictor === 1 || (predictor === 3 && kind === 'float')) return undefined;
  if (predictor !== 2)
    return `Predictor ${predictor} is not supported: 1 and 2 are, and 3 is for floating-point samples`;
  if (bits < 8 || bits > 32)
    return `Predictor 2 of ${bits}-bit samples is not supported: it is defined for 8, 16 and 32 bits`;
  return unit[0] * unit[1] > 1 ? 'Predictor 2 of subsampled YCbCr is not supported: Predictor 1 is' : undefined;
}

function whyNoYcbcr(
  bits: number,
  samplesPerPixel: number,
  isSeparate: boolean,
  [across, down]: readonly [number, number],
): string | undefined {
  if (bits !== 8) return `YCbCr of ${bits}-bit samples is not supported: 8-bit YCbCr is`;
  if (samplesPerPixel !== 3) return `YCbCr of ${samplesPerPixel} samples a pixel is not supported: 3 are`;
  if (isSeparate && across * down > 1) {
    return `YCbCr in separate planes with subsampling ${across}x${down} is not supported: 1x1 is`;
  }
  if (['1x1', '1x2', '2x1', '2x2', '4x1', '4x2', '4x4'].includes(`${across}x${down}`)) return undefined;
  return `YCbCr with subsampling ${across}x${down} is not supported: 1x1, 1x2, 2x1, 2x2, 4x1, 4x2 and 4x4 are`;
}
