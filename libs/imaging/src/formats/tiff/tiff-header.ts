import { InputError } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { exifTags, exifTimeOf, maxTextBytes } from '../../captured/exif-time.ts';
import type { Place } from '../../planes/place.ts';
import { readPlace } from './read-place.ts';
import { nameOfTag, tiffTags } from './tag-names.ts';
import { predicted, type TiffStorage, ycbcr } from './tiff-layout.ts';
import type { TiffDirectory, TiffEntry, TiffReader } from './tiff-reader.ts';

/** What the directory of a page says. */
export interface TiffHeader {
  width: number;
  height: number;
  storage: TiffStorage;
  /** The size of a tile, or of a strip, which is as wide as the image. */
  block: { width: number; height: number; isTile: boolean };
  /** What the samples besides the colours are. */
  extraSamples: readonly number[];
  /** As OpenImage.captured. */
  captured?: CaptureTime;
  /** As OpenImage.place. */
  place?: Place;
}

/** The most pages that are searched for one that is not a thumbnail. */
export const maxPages = 64;

/** Bits of NewSubfileType. */
const reducedImage = 1;
const mask = 4;

/**
 * The directory of the first page that is neither a reduced image nor a mask; the first directory if all pages are.
 * Rejects with InputError.
 */
export async function mainDirectory(reader: TiffReader): Promise<TiffDirectory> {
  const first = await reader.readFirstDirectory();
  let page = first;
  for (let pages = 1; await isBesideAnother(reader, page); pages++) {
    if (page.next === 0 || pages === maxPages) return first;
    page = await reader.readDirectory(page.next);
  }
  return page;
}

/** The most directories that are looked at for a page. */
const maxDirectories = 2 ** 17;

/**
 * The directory of a page by its number, from 1: the main directory, and those after it that are neither reduced images
 * nor masks. Rejects with InputError if there are fewer.
 */
export async function pageDirectory(reader: TiffReader, number: number): Promise<TiffDirectory> {
  let page = await mainDirectory(reader);
  const seen = new Set([page.start]);
  for (let at = 1; at < number; ) {
    const { next } = page;
    // Damaged directories may follow one another in a circle.
    if (next === 0 || seen.has(next) || seen.size === maxDirectories) {
      const has = at === 1 ? '1 page' : `${at} pages`;
      throw new InputError('decode', `The TIFF has ${has} but the job asks for page ${number}`);
    }
    seen.add(next);
    page = await reader.readDirectory(next);
    if (!(await isBesideAnother(reader, page))) at++;
  }
  return page;
}

const isBesideAnother = async (reader: TiffReader, page: TiffDirectory): Promise<boolean> => {
  const { isReduced, isMask } = await pageKind(reader, page);
  return isReduced || isMask;
};

/** What a page is to others. */
export async function pageKind(
  reader: TiffReader,
  { entries }: TiffDirectory,
): Promise<{ isReduced: boolean; isMask: boolean }> {
  const entry = entries.get(tiffTags.NewSubfileType);
  const bits = entry && reader.hasIntegers(entry) ? (await reader.integers(entry, 1))[0]! : 0;
  return { isReduced: (bits & reducedImage) !== 0, isMask: (bits & mask) !== 0 };
}

export async function readTiffHeader(reader: TiffReader, { entries }: TiffDirectory): Promise<TiffHeader> {
  const values = async (tag: number, max: number): Promise<number[]> => {
    const entry = entries.get(tag);
    return entry ? await reader.integers(entry, max) : [];
  };
  const first = async (tag: number, otherwise?: number): Promise<number> => {
    const value = (await values(tag, 1))[0] ?? otherwise;
    if (value !== undefined) return value;
    throw new InputError('decode', `The TIFF has no tag ${nameOfTag(tag)}, which every image needs`);
  };
  const width = await first(tiffTags.ImageWidth);
  const height = await first(tiffTags.ImageLength);
  const samplesPerPixel = await first(tiffTags.SamplesPerPixel, 1);
  const bits = await values(tiffTags.BitsPerSample, samplesPerPixel);
  const formats = await values(tiffTags.SampleFormat, samplesPerPixel);
  const compression = await first(tiffTags.Compression, 1);
  const [photometric] = await values(tiffTags.PhotometricInterpretation, 1);
  // Tags without a meaning for this kind of file are not read.
  const subsampling = photometric === ycbcr ? await values(tiffTags.YCbCrSubSampling, 2) : [1, 1];
  const isTile = entries.has(tiffTags.TileWidth);
  const captured = await readExifTime(reader, entries.get(tiffTags.ExifIFD));
  const place = await readPlace(reader, entries);
  return {
    captured,
    place,
    width,
    height,
    storage: {
      bitsPerSample: bits.length > 0 ? bits : [1],
      sampleFormat: formats.length > 0 ? formats : [1],
      compression,
      photometric,
      samplesPerPixel,
      planarConfiguration: samplesPerPixel > 1 ? await first(tiffTags.PlanarConfiguration, 1) : 1,
      fillOrder: await first(tiffTags.FillOrder, 1),
      predictor: predicted.includes(compression) ? await first(tiffTags.Predictor, 1) : 1,
      subsampling: subsampling.length === 2 ? subsampling : [2, 2],
      isDng: entries.has(tiffTags.DNGVersion),
    },
    extraSamples: await values(tiffTags.ExtraSamples, samplesPerPixel),
    block: isTile
      ? { width: await first(tiffTags.TileWidth), height: await first(tiffTags.TileLength), isTile }
      : { width, height: Math.min(height, await first(tiffTags.RowsPerStrip, height)), isTile },
  };
}

/** Damage to the Exif data does not count as damage to the image. */
async function readExifTime(reader: TiffReader, place: TiffEntry | undefined): Promise<CaptureTime | undefined> {
  if (!place) return undefined;
  try {
    const [start] = await reader.integers(place, 1);
    const { entries } = await reader.readDirectory(start!);
    const text = async (tag: number): Promise<string> => {
      const entry = entries.get(tag);
      return entry ? await reader.text(entry, maxTextBytes) : '';
    };
    return exifTimeOf({
      time: await text(exifTags.time),
      offset: await text(exifTags.offset),
      fraction: await text(exifTags.fraction),
    });
  } catch (error) {
    if (error instanceof InputError && error.fault === 'content') return undefined;
    throw error;
  }
}
