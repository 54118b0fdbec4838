import { marker } from '../jpeg/markers.ts';
import { nextMarker } from '../jpeg/next-marker.ts';

const endMarker = Buffer.from([0xff, marker.endOfImage]);

/** Why a JPEG is refused that libjpeg-turbo does not decode without a warning. */
export function whyRefused(jpeg: Uint8Array): string {
  if (!hasEnd(jpeg)) return 'The JPEG is cut off: its end marker is missing';
  return whyNotUpsampled(jpeg) ?? 'The JPEG data is damaged or cut off';
}

/** Why a JPEG is refused whose header libjpeg refuses with the message `words`. */
export function whyNoHeader(jpeg: Uint8Array, words: string): string {
  const frame = frameOf(jpeg);
  const isLater = frame && frame.length > 2 && frame[1] === 0 && frame[2] === 0;
  if (isLater)
    return 'The JPEG states its height behind its pixels (DNL), which is not supported: one in its header is';
  return `The header of the JPEG is damaged or cut off: ${words}`;
}

export const hasEnd = (jpeg: Uint8Array): boolean =>
  Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length).includes(endMarker);

/** Markers of frame headers, whose segments have one form; C4, C8 and CC are other markers. */
const isFrame = (code: number): boolean => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** The segment of the frame header, without its length; undefined if there is none before the first scan. */
function frameOf(jpeg: Uint8Array): Uint8Array | undefined {
  for (let at = 2; ; ) {
    const found = nextMarker(jpeg, at);
    if (!found || found.code === marker.startOfScan) return undefined;
    const { code, end } = found;
    at = code === marker.startOfImage ? end : end + Math.max(2, (jpeg[end]! << 8) | jpeg[end + 1]!);
    if (isFrame(code)) return jpeg.subarray(end + 2, at);
  }
}

/** Why libjpeg cannot make colours of a JPEG: the samplings of two components are not multiples of each other. */
function whyNotUpsampled(jpeg: Uint8Array): string | undefined {
  const frame = frameOf(jpeg);
  return frame && oddSampling(frame.subarray(6, 6 + 3 * (frame[5] ?? 0)));
}

/** `components` has three bytes for each component: its id, its factors across and down, and its quantisers. */
function oddSampling(components: Uint8Array): string | undefined {
  const factors = Array.from(components).filter((_, i) => i % 3 === 1);
  for (const [side, shift] of [
    ['across', 4],
    ['down', 0],
  ] as const) {
    const its = factors.map((factor) => (factor >> shift) & 15);
    const most = Math.max(...its);
    const odd = its.find((factor) => factor > 0 && most % factor !== 0);
    if (odd === undefined) continue;
    return `The JPEG has components with ${odd} samples for ${most} of others ${side}, which libjpeg does not make colours of: it does where one sample stands for 1, 2, 3 or 4, and it makes gray of YCbCr`;
  }
  return undefined;
}
