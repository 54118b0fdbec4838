import { copyBorderedRows, createPixels, type Pixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { derivativeCoefficients, type LdpSettings } from './ldp.ts';

/** Row and column steps of the directions 0, 45, 90 and 135 degrees. */
const directions = [
  [0, 1],
  [-1, 1],
  [-1, 0],
  [-1, -1],
] as const;

/** Row and column steps to the neighbours on the ring: NW, N, NE, E, SE, S, SW, W. */
const ring = [
  [-1, -1],
  [-1, 0],
  [-1, 1],
  [0, 1],
  [1, 1],
  [1, 0],
  [1, -1],
  [0, -1],
] as const;

const bins = 256;

/** The reference of ldp.wgsl: four bands of codes and four histograms of one item. */
export function ldpReference(
  { settings: { order }, border, reads = 'u8' }: Operation<LdpSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { out, valid } = item;
  const bandBytes = out.width * out.height;
  const map = withMap ? new Uint8Array(bandBytes * directions.length) : undefined;
  const counts = new Uint32Array(bins * directions.length);
  const [stride, height] = [valid.width + 2 * order, valid.height + 2 * order];
  const pixels = createPixels(reads, stride * height);
  const source = storedPixels(bytes, item, reads);
  const around = { x: valid.x - order, y: valid.y - order, width: stride, height };
  copyBorderedRows(source.pixels, source.plane, border, around, pixels, 0, stride);
  const coefficients = derivativeCoefficients(order);

  directions.forEach(([dy, dx], band) => {
    const signs = signsOfDerivative(pixels, stride, coefficients, dy * stride + dx);
    const steps = ring.map(([ry, rx]) => ry * stride + rx);
    for (let y = 0; y < valid.height; y++) {
      for (let x = 0; x < valid.width; x++) {
        const at = (y + order) * stride + x + order;
        let code = 0;
        for (let i = 0; i < 8; i++) if (signs[at]! * signs[at + steps[i]!]! <= 0) code |= 128 >> i;
        counts[band * bins + code]!++;
        if (map) map[band * bandBytes + (valid.y - out.y + y) * out.width + valid.x - out.x + x] = code;
      }
    }
  });
  return {
    counted: valid.width * valid.height,
    bins: counts,
    map: map && { bytes: map, stride: out.width, bandBytes },
  };
}

/**
 * The signs of the derivative along `step`, -1, 0 or 1, for every pixel whose derivatives in all directions stay in
 * `pixels`.
 */
function signsOfDerivative(pixels: Pixels, stride: number, coefficients: readonly number[], step: number): Int8Array {
  const reach = (coefficients.length - 1) * (stride + 1);
  const signs = new Int8Array(pixels.length);
  for (let at = reach; at < pixels.length - coefficients.length + 1; at++) {
    let derivative = 0;
    for (let k = 0; k < coefficients.length; k++) derivative += coefficients[k]! * pixels[at + k * step]!;
    signs[at] = Math.sign(derivative);
  }
  return signs;
}
