import { componentFrame, type JpegFrame } from '../frame/jpeg-frame.ts';
import { decodeTwin } from './decode-twin.ts';
import { type ComponentSamples, rgbOf, sampleAt } from './upsample.ts';

/** The result of decoding a file in colour. */
export interface DecodedColours {
  /** The status of each component; see `status`. */
  statuses: readonly number[];
  /** Red, green and blue, one after another, rows without gaps; without meaning unless every status is fine. */
  planes: Uint8Array;
}

/**
 * Decodes a JPEG in colour as devices do: it decodes each component as if it were the luma of a file, enlarges it to
 * the size of luma, and converts to RGB. `frame` must have `hasColours`. A gray JPEG has three equal planes.
 */
export function decodeColoursTwin(jpeg: Uint8Array, frame: JpegFrame): DecodedColours {
  const { width, height } = frame;
  const decoded = frame.components.map((_, i) => {
    const own = componentFrame(frame, i);
    const { status, luma } = decodeTwin(jpeg, own);
    const [across, down] = [frame.lumaAcross / own.lumaAcross, frame.lumaDown / own.lumaDown];
    return {
      status,
      samples: { width: own.width, height: own.height, bytes: luma, across, down } satisfies ComponentSamples,
    };
  });
  const [luma, cb, cr] = decoded.map(({ samples }) => samples);
  const pixels = width * height;
  const planes = new Uint8Array(3 * pixels);
  for (let i = 0; i < pixels; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const own = luma!.bytes[i]!;
    const rgb = cb && cr ? rgbOf(own, sampleAt(cb, x, y), sampleAt(cr, x, y)) : [own, own, own];
    for (const [plane, value] of rgb.entries()) planes[plane * pixels + i] = value;
  }
  return { statuses: decoded.map(({ status }) => status), planes };
}
