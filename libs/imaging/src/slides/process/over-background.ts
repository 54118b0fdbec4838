/** A colour as 0xRRGGBB. */
export type Colour = number;

/** What OpenSlide gives where a slide has no pixels. White unless the slide states a background. */
export const white: Colour = 0xffffff;

/** Reads a background as OpenSlide's property states it: six hexadecimal digits. */
export const readBackground = (stated: string | null): Colour =>
  stated && /^[\da-f]{6}$/i.test(stated) ? Number.parseInt(stated, 16) : white;

/**
 * Writes premultiplied ARGB as red, green and blue, over the background: c + round(b (255 - a) / 255), at most 255.
 */
export function overBackground(argb: Uint32Array, background: Colour, to: Uint8Array, at: number): void {
  const [red, green, blue] = [background >> 16, (background >> 8) & 255, background & 255];
  for (let i = 0, out = at; i < argb.length; i++, out += 3) {
    const pixel = argb[i]!;
    const rest = 255 - (pixel >>> 24);
    to[out] = Math.min(255, ((pixel >>> 16) & 255) + share(red, rest));
    to[out + 1] = Math.min(255, ((pixel >>> 8) & 255) + share(green, rest));
    to[out + 2] = Math.min(255, (pixel & 255) + share(blue, rest));
  }
}

const share = (value: number, of255: number): number => Math.floor((2 * value * of255 + 255) / 510);
