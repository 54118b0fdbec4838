import type { Rect } from '@halogrid/geometry';
import { formats, InputError, type InputFile } from '@halogrid/sources';
import { checkHasPixels, checkWholePixels } from '../../pixel-limit.ts';
import { checkDecodeRequest } from '../../planes/decode-request.ts';
import type { OpenImage } from '../../planes/image.ts';
import { canBeSample, rangeOf } from '../../planes/mark-no-data.ts';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { copyAsPnm } from '../copy-rows.ts';
import { type BlockPage, openBlocks } from './block-page.ts';
import { readNoData } from './colour-tags.ts';
import { levelDirectory } from './level-directory.ts';
import { rangeOfSamples } from './sample-range.ts';
import { whyChooseBand } from './several-bands.ts';
import { mainDirectory, readTiffHeader, type TiffHeader } from './tiff-header.ts';
import { type TiffLayout, tiffLayout } from './tiff-layout.ts';
import { TiffReader } from './tiff-reader.ts';

/** Tiles larger than this are too large to read by region: the image is decoded whole. */
const maxTilePixels = 2 ** 24;

/**
 * Opens the first page that is neither a reduced image nor a mask, or a smaller level of its pyramid. Takes `file` over
 * and keeps it open. Tiles are read by region. Colours are as stored: other samples, such as alpha, do not change them.
 * Rejects with InputError, also if its bands are no colours and none is chosen.
 */
export async function openTiff(file: InputFile, maxWholePixels: number, read: ReadOptions): Promise<OpenImage> {
  const reader = new TiffReader(file);
  const main = await mainDirectory(reader);
  const directory = read.level ? await levelDirectory(reader, main, read.level) : main;
  const header = await readTiffHeader(reader, directory);
  const layout = tiffLayout(header.storage, read);
  if (typeof layout === 'string') throw new InputError('decode', layout);
  const several = read.band ? undefined : whyChooseBand(header.storage, header.extraSamples);
  if (several) throw new InputError('decode', several);
  const { width, height, block } = header;
  checkHasPixels(width, height);
  const noData = await readNoData(reader, directory.entries);
  const page = await openBlocks(file, reader, directory.entries, header, layout, noData);
  const samples = layout.scale && rangeOfSamples(layout);
  const readsRegions = block.isTile && block.width * block.height <= maxTilePixels;
  const isLarge = !readsRegions && width * height > maxWholePixels;
  if (isLarge) {
    // An image that claims more pixels than the file can hold is refused before its pixels are read.
    const most = formats.png.mostPixelsPerByte * file.sizeBytes;
    checkWholePixels(width, height, most, `a file of ${file.sizeBytes} bytes can hold`);
  }
  const opened: OpenImage = {
    format: 'tiff',
    width,
    height,
    pixel: layout.pixel,
    captured: header.captured,
    place: header.place,
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
      await page.decode(region, to);
    },
    copy: isLarge ? copyOf(page, header, layout, maxWholePixels) : undefined,
    close: () => file.close(),
  };
  return opened;
}

/** Whether gray is not the samples themselves. */
const isConverted = ({ colours, isInverted, bits }: TiffLayout): boolean =>
  colours !== 'gray' || isInverted || bits < 8;

/** Makes a copy in bands of whole blocks. */
function copyOf(
  page: BlockPage,
  { width, height, block }: TiffHeader,
  { pixel }: TiffLayout,
  maxPixels: number,
): OpenImage['copy'] {
  const decode = (y: number, rows: number, to: PlaneTarget): Promise<void> =>
    page.decode({ x: 0, y, width, height: rows }, to);
  return copyAsPnm({ width, height, pixel }, { maxPixels, rowsTogether: block.height }, decode);
}
