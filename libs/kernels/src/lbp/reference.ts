import { type BorderMode, borderIndex } from '../border.ts';
import type { Parameters } from '../kernel.ts';
import type { ItemResult, PlaneItem } from '../plane-item.ts';

/** Row and column steps to the ring: NW, N, NE, E, SE, S, SW, W. */
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

/** The CPU twin of lbp.wgsl: codes and histogram of one item. */
export function lbpReference(
  parameters: Parameters,
  border: BorderMode,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const msb = parameters.convention === 'nw-cw-msb';
  const { offset, stride, stored, out, valid } = item;
  const map = withMap ? new Uint8Array(out.width * out.height) : undefined;
  const bins = new Uint32Array(256);
  const lastX = stored.width - 1;
  const lastY = stored.height - 1;

  const bits = msb ? [128, 64, 32, 16, 8, 4, 2, 1] : [1, 2, 4, 8, 16, 32, 64, 128];
  const steps = ring.map(([dy, dx]) => dy * stride + dx);
  for (let y = valid.y; y < valid.y + valid.height; y++) {
    for (let x = valid.x; x < valid.x + valid.width; x++) {
      const at = offset + y * stride + x;
      const centre = bytes[at]!;
      let code = 0;
      if (x > 0 && y > 0 && x < lastX && y < lastY) {
        for (let i = 0; i < 8; i++) if (bytes[at + steps[i]!]! >= centre) code |= bits[i]!;
      } else {
        for (let i = 0; i < 8; i++) {
          const ny = borderIndex(y + ring[i]![0], stored.height, border);
          const nx = borderIndex(x + ring[i]![1], stored.width, border);
          const neighbour = nx < 0 || ny < 0 ? 0 : bytes[offset + ny * stride + nx]!;
          if (neighbour >= centre) code |= bits[i]!;
        }
      }
      bins[code]!++;
      if (map) map[(y - out.y) * out.width + (x - out.x)] = code;
    }
  }
  return { counted: valid.width * valid.height, bins, map, mapStride: map && out.width };
}
