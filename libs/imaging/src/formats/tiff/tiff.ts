import type { Rect } from '@halogrid/geometry';
import { formats, InputError, type InputFile } from '@halogrid/sources';
import { checkHasPixels, checkWholePixels } from '../../pixel-limit.ts';
import { checkDecodeRequest } from '../../planes/decode-request.ts';
import type { OpenImage } from '../../planes/image.ts';
import { canBeSample, rangeOf } from '../../planes/mark-no-data.ts';
import type { Place } from '../../planes/place.ts';
import { type PlaneTarget, planesFrom } from '../../planes/plane-target.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { copyAsPnm } from '../copy-rows.ts';
import { type BlockPage, openBlocks } from './block-page.ts';
import { readNoData } from './colour-tags.ts';
import { levelDirectory } from './level-directory.ts';
import { sayOtherPages } from './other-pages.ts';
import { placeOfLevel } from './place-of-level.ts';
import { rangeOfSamples } from './sample-range.ts';
import { sayFourthBand, whyChooseBand } from './several-bands.ts';
import { mainDirectory, pageDirectory, readTiffHeader, type TiffHeader } from './tiff-header.ts';
import { bandsOf, type TiffLayout, tiffLayout } from './tiff-layout.ts';
import { type TiffDirectory, TiffReader } from './tiff-reader.ts';

/** Tiles larger than this are too large to read by region: the image is decoded whole. */
const maxTilePixels = 2 ** 24;

/**
 * Opens the first page that is neither a reduced image nor a mask, or the page or level that is asked for. Takes `file`
 * over and keeps it open. Tiles are read by region. Colours are as stored: other samples, such as alpha, do not change
 * them. Rejects with InputError, also if its bands are no colours and none is chosen.
 */
export async function openTiff(file: InputFile, maxWholePixels: number, read: ReadOptions): Promise<OpenImage> {
  const reader = new TiffReader(file);
  const main = await (read.page ? pageDirectory(reader, read.page) : mainDirectory(reader));
  const directory = read.level ? await levelDirectory(reader, main, read.level, read.page !== undefined) : main;
  const header = await readTiffHeader(reader, directory);
  const layout = tiffLayout(header.storage, read);
  if (typeof layout === 'string') throw new InputError('decode', layout);
  const several = read.band ? undefined : whyChooseBand(header.storage, header.extraSamples);
  if (several) throw new InputError('decode', several);
  const { width, height, block } = header;
  checkHasPixels(width, height);
  const noData = await readNoData(reader, directory.entries);
  const pages: BlockPage[] = [];
  for (const plane of layout.firstPlanes)
    pages.push(await openBlocks(file, reader, directory.entries, header, layout, noData, plane));
  const decode = async (region: Rect, to: PlaneTarget): Promise<void> => {
    for (const [band, page] of pages.entries()) await page.decode(region, planesFrom(to, band));
    // Once for each image, because looking takes reads: the tile with the first pixel tells it for all.
    if (region.x === 0 && region.y === 0) opened.mended = await sayUnread();
  };
  const sayUnread = async (): Promise<string | undefined> => {
    const band = read.band ? undefined : sayFourthBand(header.storage, header.extraSamples);
    const pages = read.page ? undefined : await sayOtherPages(reader, main);
    return [band, pages].filter(Boolean).join('; ') || undefined;
  };
  const grayPlanes = read.band?.numbers.length;
  const samples = layout.scale && rangeOfSamples(layout);
  const readsRegions = block.isTile && block.width * block.height <= maxTilePixels;
  const isLarge = !readsRegions && width * height > maxWholePixels;
  if (isLarge) {
    // An image that claims more pixels than the file can hold is refused before its pixels are read.
    const most = formats.png.mostPixelsPerByte * file.sizeBytes;
    checkWholePixels(width, height, most, `a file of ${file.sizeBytes} bytes can hold`);
  }
  const opened: OpenImage & { mended: string | undefined } = {
    format: 'tiff',
    mended: undefined,
    width,
    height,
    pixel: layout.pixel,
    captured: header.captured,
    place: header.place ?? (directory === main ? undefined : await inheritedPlace(reader, main, header)),
    ...(canHaveBands(layout) && { bands: bandsOf(header.storage) }),
    grayPlanes,
    ...(canBeSample(noData, samples ?? rangeOf(layout.pixel)) && { noData }),
    samples,
    ...((samples || isConverted(layout)) && { isConverted: true }),
    readsRegions,
    get inputBytes() {
      return file.bytesRead;
    },
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      if (!readsRegions) checkWholePixels(width, height, maxWholePixels);
      await decode(region, to);
    },
    copy: isLarge ? copyOf(decode, header, { ...layout, grayPlanes }, maxWholePixels) : undefined,
    close: () => file.close(),
  };
  return opened;
}

/** The place of a level that states none, if its largest level does. */
async function inheritedPlace(reader: TiffReader, main: TiffDirectory, level: TiffHeader): Promise<Place | undefined> {
  try {
    const { place, ...full } = await readTiffHeader(reader, main);
    return place && placeOfLevel(place, full, level);
  } catch (error) {
    // A level may be readable beside a largest level that is not.
    if (error instanceof InputError && error.fault === 'content') return undefined;
    throw error;
  }
}

const canHaveBands = ({ colours }: TiffLayout): boolean => colours !== 'palette' && colours !== 'ycbcr';

/** Whether gray is not the samples themselves. */
const isConverted = ({ colours, isInverted, bits }: TiffLayout): boolean =>
  colours !== 'gray' || isInverted || bits < 8;

/** Makes a copy in strips of whole blocks. */
function copyOf(
  decode: OpenImage['decode'],
  { width, height, block }: TiffHeader,
  { pixel, grayPlanes }: Pick<TiffLayout, 'pixel'> & Pick<OpenImage, 'grayPlanes'>,
  maxPixels: number,
): OpenImage['copy'] {
  const decodeRows = (y: number, rows: number, to: PlaneTarget): Promise<void> =>
    decode({ x: 0, y, width, height: rows }, to);
  return copyAsPnm({ width, height, pixel, grayPlanes }, { maxPixels, rowsTogether: block.height }, decodeRows);
}
