import { type Rect, sampleBytes } from '@halogrid/geometry';
import { type OpenImage, openImage } from '@halogrid/imaging';
import { InputError } from '@halogrid/sources';
import { LastDecoded } from './last-decoded.ts';
import { shrink, type Thumbnail } from './thumbnails.ts';

/** The most pixels that are decoded for one picture: 50 MB as colours of 8 bits. */
const maxRegionPixels = 2 ** 24;

/**
 * The picture of a part of an image in colour, at most `side` pixels wide and high, and never enlarged. The part is
 * clipped to the image. Rejects with InputError if the part lies outside of the image, or if too many pixels would have
 * to be decoded for one picture. A format that is not read by region decodes the whole image, once for parts that are
 * asked for together.
 */
export async function regionPicture(uri: string, asked: Rect, side: number): Promise<Thumbnail> {
  const image = await openImage(uri);
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
    const decode = (): Promise<Uint8Array> => decodeColours(image, decoded);
    const isShared = !readsRegions && version !== undefined;
    const bytes = await (isShared ? lastWhole.get(`${uri} ${version}`, decode) : decode());
    const part = { x: region.x - decoded.x, y: region.y - decoded.y, width: region.width, height: region.height };
    const box = { width: Math.min(side, region.width), height: Math.min(side, region.height) };
    const picture = await shrink(bytes, pixel, decoded, 3, box, part);
    return { ...picture, of: { width: part.width, height: part.height } };
  } finally {
    await image.close();
  }
}

const lastWhole = new LastDecoded();

/** The planes of red, green and blue of a region, one after another. */
async function decodeColours(image: OpenImage, region: Rect): Promise<Uint8Array> {
  const stride = region.width * sampleBytes[image.pixel];
  const planeBytes = stride * region.height;
  const bytes = new Uint8Array(3 * planeBytes);
  await image.decode(region, { bytes, offset: 0, stride, channels: 'rgb', planeBytes });
  return bytes;
}

/** Whether parts of an image can be shown, wherever they lie. Rejects with InputError if the image cannot be opened. */
export async function readsParts(uri: string): Promise<boolean> {
  const image = await openImage(uri);
  await image.close();
  return image.readsRegions || image.width * image.height <= maxRegionPixels;
}

function clipped({ x, y, width, height }: Rect, size: { width: number; height: number }): Rect {
  return { x, y, width: Math.min(width, size.width - x), height: Math.min(height, size.height - y) };
}
