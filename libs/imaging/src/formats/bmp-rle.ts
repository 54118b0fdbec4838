import { refused } from './bmp-header.ts';

/**
 * The colour of each pixel, row by row from the lowest, of pixels that are run-length encoded with 8 or 4 bits. Pixels
 * that the file skips have colour 0. Throws InputError for a file that ends early or leaves the image.
 */
export function decodeRle(bytes: Uint8Array, bits: 4 | 8, width: number, height: number): Uint8Array {
  const colours = new Uint8Array(width * height);
  let [x, y, at] = [0, 0, 0];
  const next = (): number => {
    if (at >= bytes.length) throw refused(`is cut off: its pixels end in row ${y} of ${height}`);
    return bytes[at++]!;
  };
  const check = (count: number): void => {
    if (y >= height || x + count > width) throw refused(`has pixels outside the image, in row ${y}`);
  };
  const put = (colour: number): void => {
    colours[y * width + x++] = colour;
  };
  for (;;) {
    const count = next();
    const value = next();
    if (count > 0) {
      check(count);
      for (let i = 0; i < count; i++) put(bits === 8 ? value : nibble(value, i));
    } else if (value === 0) {
      x = 0;
      y++;
    } else if (value === 1) {
      return colours;
    } else if (value === 2) {
      x += next();
      y += next();
      check(0);
    } else {
      check(value);
      for (let i = 0, byte = 0; i < value; i++) {
        if (bits === 8 || i % 2 === 0) byte = next();
        put(bits === 8 ? byte : nibble(byte, i));
      }
      // Pixels that are listed one by one end at an even byte.
      const listed = bits === 8 ? value : Math.ceil(value / 2);
      if (listed % 2 === 1) next();
    }
  }
}

/** The upper half of a byte comes first. */
const nibble = (byte: number, i: number): number => (i % 2 === 0 ? byte >> 4 : byte & 15);
