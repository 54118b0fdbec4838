import { marker } from '../jpeg/markers.ts';
import { nextMarker } from '../jpeg/next-marker.ts';

const endMarker = Buffer.from([0xff, marker.endOfImage]);

/** What is said of a JPEG that libjpeg-turbo does not decode without a warning. */
export function whyRefused(jpeg: Uint8Array): string {
  if (!hasEnd(jpeg)) return 'The JPEG is cut off: its end marker is missing';
  return whyNotUpsampled(jpeg) ?? 'The JPEG data is damaged or cut off';
}

export const hasEnd = (jpeg: Uint8Array): boolean =>
  Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length).includes(endMarker);

/** Markers of frames, whose segments are alike; C4, C8 and CC are none. */
const isFrame = (code: number): boolean => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** Why libjpeg makes no colours of a JPEG: there are not so many samples of a component for each of another. */
function whyNotUpsampled(jpeg: Uint8Array): string | undefined {
  for (let at = 2; ; ) {
    const found = nextMarker(jpeg, at);
    if (!found || found.code === marker.startOfScan) return undefined;
    const { code, end } = found;
    if (isFrame(code)) return oddSampling(jpeg.subarray(end + 8, end + 8 + 3 * (jpeg[end + 7] ?? 0)));
    at = code === marker.startOfImage ? end : end + Math.max(2, (jpeg[end]! << 8) | jpeg[end + 1]!);
  }
}

/** `components` has three bytes each: its name, its factors across and down, and its quantisers. */
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
