import type { Size } from '@halogrid/geometry';

/**
 * Draws frame `index` of a synthetic street as interleaved 8-bit RGB: a textured ground under a smooth sky, moving
 * boxes and sensor noise. A JPEG of it has about as many bits a pixel as one of a surveillance camera.
 */
export function drawScene({ width, height }: Size, index: number): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  const horizon = height * 0.4;
  let noise = index + 1;
  for (let y = 0; y < height; y++) {
    const near = Math.max(0, (y - horizon) / (height - horizon));
    for (let x = 0; x < width; x++) {
      noise = Math.imul(noise ^ (noise >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      const grain = ((noise >>> 20) & 15) - 8;
      const texture =
        y < horizon ? 0 : 30 * Math.sin(x * 0.21 + 3 * Math.sin(y * 0.11)) * Math.sin(y * 0.37 + x * 0.05);
      const light = (y < horizon ? 150 + 80 * (y / horizon) : 70 + 60 * near + texture) + grain;
      const at = (y * width + x) * 3;
      rgb[at] = light;
      rgb[at + 1] = light - 4;
      rgb[at + 2] = light - (y < horizon ? -20 : 15);
    }
  }
  for (let box = 0; box < 12; box++) {
    const side = Math.floor(height * (0.05 + 0.02 * (box % 5)));
    const left = (box * 173 + index * (5 + box)) % (width - side);
    const top = Math.floor(horizon + ((box * 97) % (height - horizon - side)));
    for (let y = top; y < top + side; y++) {
      for (let x = left; x < left + side; x++) {
        const at = (y * width + x) * 3;
        rgb[at + (box % 3)] = 200 - ((x + y) % 40);
      }
    }
  }
  return rgb;
}

/** The first frame as a gray picture: its green channel. */
export function drawGrayScene(size: Size): Uint8Array {
  const rgb = drawScene(size, 0);
  return Uint8Array.from({ length: size.width * size.height }, (_, i) => rgb[3 * i + 1]!);
}
