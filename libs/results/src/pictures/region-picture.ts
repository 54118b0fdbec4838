import type { Rect, Size } from '@halogrid/geometry';
import { openImage, readName } from '@halogrid/imaging';
import { InputError } from '@halogrid/sources';
import { LastDecoded } from './last-decoded.ts';
import { decodeShown, type ShownPixels, shownOf } from './shown-pixels.ts';
import { type ShownSource, shrink, type Thumbnail } from './thumbnails.ts';

type ShownImage = Omit<ShownSource, 'videoFrame'>;

/** The most pixels that are decoded for one picture: 50 MB as colours of 8 bits. */
const maxRegionPixels = 2 ** 24;

/**
 * The picture of a part of an image, at most `side` pixels wide and high, and never enlarged; the part is in pixels of
 * the level that is read, and clipped to the image. It shows what `shownOf` chooses. Rejects with InputError if the
 * part lies outside of the image, or if too many pixels would have to be decoded for one picture. A format that is not
 * read by region decodes the whole image, once for parts that are asked for together.
 */
export async function regionPicture({ uri, read = {} }: ShownImage, asked: Rect, side: number): Promise<Thumbnail> {
  const image = await openImage(uri, shownOf(read));
  try {
    const { width, height, pixel, readsRegions } = image;
    const region = clipped(asked, { width, height });
    const decoded = readsRegions ? region : { x: 0, y: 0, width, height };
    if (region.width <= 0 || region.height <= 0) throw new InputError('decode', 'The part lies outside of the image');
    if (decoded.width * decoded.height > maxRegionPixels) {
      throw new InputError(
        'decode',
        `${decoded.width}x${decoded.height} are more than the ${maxRegionPixels} pixels that are decoded for a picture`,
      );
    }
    const { version } = image;
    const decode = (): Promise<ShownPixels> => decodeShown(image, decoded);
    const isShared = !readsRegions && version !== undefined;
    const key = `${readName(read)} ${uri} ${version}`;
    const { bytes, planes } = await (isShared ? lastWhole.get(key, decode) : decode());
    const part = { x: region.x - decoded.x, y: region.y - decoded.y, width: region.width, height: region.height };
    const box = { width: Math.min(side, region.width), height: Math.min(side, region.height) };
    const picture = await shrink(bytes, pixel, decoded, planes, box, part);
    return { ...picture, of: { width: part.width, height: part.height } };
  } finally {
    await image.close();
  }
}

const lastWhole = new LastDecoded<ShownPixels>();

/** Whether parts of an image can be shown, wherever they lie. Rejects with InputError if the image cannot be opened. */
export async function readsParts({ uri, read = {} }: ShownImage): Promise<boolean> {
  const image = await openImage(uri, shownOf(read));
  await image.close();
  return image.readsRegions || image.width * image.height <= maxRegionPixels;
}

function clipped({ x, y, width, height }: Rect, size: Size): Rect {
  return { x, y, width: Math.min(width, size.width - x), height: Math.min(height, size.height - y) };
}
