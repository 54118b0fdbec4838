import { checkDecodeRequest } from './decode-request.ts';
import type { InputFile } from './input-file.ts';
import type { OpenImage } from './open-image.ts';
import { checkWholePixels } from './pixel-limit.ts';
import type { PlaneTarget } from './plane-target.ts';
import type { Rect } from './rect.ts';
import { openSharp, type SharpFormat } from './sharp-image.ts';

/** A PNG, WebP or striped TIFF, which can only be decoded whole. Takes `file` over. */
export async function openWholeImage(file: InputFile, format: SharpFormat, maxWholePixels: number): Promise<OpenImage> {
  const image = await openSharp(await file.whole(), format);
  const { width, height, pixel } = image;
  checkWholePixels(width, height, maxWholePixels);
  const opened: OpenImage = {
    format,
    width,
    height,
    pixel,
    readsRegions: false,
    inputBytes: file.bytesRead,
    async decode(region: Rect, to: PlaneTarget): Promise<void> {
      checkDecodeRequest(opened, region, to);
      await image.decode(region, to);
    },
    close: () => file.close(),
  };
  return opened;
}
