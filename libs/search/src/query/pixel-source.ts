import { type PixelType, type Rect, type Size, sampleBytes } from '@halogrid/geometry';
import { type OpenImage, openImage, type PlaneTarget, planesOf, type ReadOptions, readFrames } from '@halogrid/imaging';
import { InputError } from '@halogrid/sources';

/** Pixels that can be read by region. */
export interface PixelSource extends Size {
  readonly pixel: PixelType;
  /** Writes the pixels of a region to their places. Rejects with InputError. */
  read(region: Rect, to: PlaneTarget): Promise<void>;
  close(): Promise<void>;
}

/** Planes of pixels in memory, one after another, rows without gaps. */
interface Planes extends Size {
  pixel: PixelType;
  bytes: Uint8Array;
}

/** The most pixels of an image that is decoded whole: 256 MiB of 16-bit colour are three times that. */
const maxWholePixels = 2 ** 26;

/**
 * Opens an image, or a frame of a video by its number, for reading regions. `read`: what becomes pixels of images, at
 * most one band. An image that cannot be read by region is
 * decoded whole, once. Rejects with InputError.
 */
export async function openPixels(uri: string, videoFrame?: number, read: ReadOptions = {}): Promise<PixelSource> {
  if (videoFrame !== undefined) return openFrame(uri, videoFrame);
  const image = await openImage(uri, { ...read, maxWholePixels });
  const { width, height, pixel } = image;
  let whole: Promise<Planes> | undefined;
  return {
    width,
    height,
    pixel,
    read: async (region, to) => {
      if (image.readsRegions) return image.decode(region, to);
      whole ??= decodeWhole(image, to.channels);
      copyRegion(await whole, region, to);
    },
    close: () => image.close(),
  };
}

async function openFrame(uri: string, videoFrame: number): Promise<PixelSource> {
  const gray = await decodeFrame(uri, videoFrame, 'gray');
  const { width, height, pixel } = gray;
  let colours: Promise<Planes> | undefined;
  return {
    width,
    height,
    pixel,
    read: async (region, to) => {
      if (to.channels === 'rgb') colours ??= decodeFrame(uri, videoFrame, 'rgb');
      copyRegion(to.channels === 'rgb' ? await colours! : gray, region, to);
    },
    close: async () => {},
  };
}

async function decodeFrame(uri: string, videoFrame: number, channels: PlaneTarget['channels']): Promise<Planes> {
  for await (const { width, height, pixel, pixels } of readFrames(uri, new Set([videoFrame]), channels))
    return { width, height, pixel, bytes: pixels };
  throw new InputError('decode', `Frame ${videoFrame} cannot be decoded, or is not in the video`);
}

async function decodeWhole(image: OpenImage, channels: PlaneTarget['channels']): Promise<Planes> {
  const { width, height, pixel } = image;
  const stride = width * sampleBytes[pixel];
  const planeBytes = stride * height;
  const bytes = new Uint8Array(planeBytes * planesOf(channels));
  await image.decode({ x: 0, y: 0, width, height }, { bytes, offset: 0, stride, channels, planeBytes });
  return { width, height, pixel, bytes };
}

function copyRegion({ width, height, pixel, bytes }: Planes, region: Rect, to: PlaneTarget): void {
  const unit = sampleBytes[pixel];
  for (let plane = 0; plane < planesOf(to.channels); plane++) {
    for (let row = 0; row < region.height; row++) {
      const at = ((plane * height + region.y + row) * width + region.x) * unit;
      to.bytes.set(bytes.subarray(at, at + region.width * unit), to.offset + plane * to.planeBytes + row * to.stride);
    }
  }
}
