import type { Picture } from './lbp-definition.ts';
import { drawPicture } from './picture-files.ts';

const size = { width: 48, height: 48 };

/**
 * A frame of a camera: gray with noise. Each quarter has its own stripes; from frame 50 on, the last quarter has the
 * stripes of the first.
 */
export function viewWithChange(number: number): Picture {
  const { pixels: noise } = drawPicture(size.width, size.height, number + 1);
  const pixels = noise.map((value, i) => {
    const [x, y] = [i % size.width, Math.floor(i / size.width)];
    const quarter = 2 * Math.floor((2 * y) / size.height) + Math.floor((2 * x) / size.width);
    const kind = quarter === 3 && number >= 50 ? 0 : quarter;
    const along = [x, y, x + y, x - y + size.height][kind]!;
    return 60 + (along % 6 < 3 ? 80 : 0) + ((value * 7 + number * 13) & 3);
  });
  return { ...size, pixels };
}
