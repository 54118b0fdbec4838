import type { Rect } from '@halogrid/geometry';
import { formats, InputError, type InputFile } from '@halogrid/sources';
import { checkHasPixels, checkWholePixels } from '../../pixel-limit.ts';
import { checkDecodeRequest } from '../../planes/decode-request.ts';
import type { OpenImage } from '../../planes/image.ts';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import type { ReadOptions } from '../../planes/read-options.ts';
import { copyAsPnm } from '../copy-rows.ts';
import { type BlockPage, openBlocks } from './block-page.ts';
import { whyChooseBand } from './several-bands.ts';
import { mainDirectory, readTiffHeader, type TiffHeader } from './tiff-header.ts';
import { type TiffLayout, tiffLayout } from './tiff-layout.ts';
import { TiffReader } from './tiff-reader.ts';

/** Tiles larger than this are too large to read by region: the image is decoded whole. */
const maxTilePixels = 2 ** 24;

/**
 * Opens the first page that is neither a reduced image nor a mask. Takes `file` over and keeps it open. Tiles are read
 * by region. Colours are as stored: other samples, such as alpha, do not change them. Rejects with InputError, also if
 * its bands are no colours and none is chosen.
 */
export async function openTiff(file: InputFile, maxWholePixels: number, read: ReadOptions): Promise<OpenImage> {
  const reader = new TiffReader(file);
  const directory = await mainDirectory(reader);
  const header = await readTiffHeader(reader, directory);
  const layout = tiffLayout(header.storage, read);
  if (typeof layout === 'string') throw new InputError('decode', layout);
  const several = read.band ? undefined : whyChooseBand(header.storage, header.extraSamples);
  if (several) throw new InputError('decode', several);
  const { width, height, block } = header;
  checkHasPixels(width, height);
  const page = await openBlocks(file, reader, directory.entries, header, layout);
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
