import { type BorderMode, borderIndex } from './border.ts';
import type { Rect } from './geometry.ts';
import type { PlaneItem } from './plane-item.ts';

/** One stored plane: of an item of several channels, with the offset of the channel. */
export type StoredPlane = Pick<PlaneItem, 'offset' | 'stride' | 'stored'>;

/**
 * Copies `rect` of a plane, which may reach any distance outside it, to byte `at` of `target`, rows `targetStride` bytes
 * apart; pixels outside are those of the border rule. An inner loop over what it leaves knows no borders.
 */
export function copyBorderedRows(
  bytes: Uint8Array,
  { offset, stride, stored }: StoredPlane,
  border: BorderMode,
  rect: Rect,
  target: Uint8Array,
  at: number,
  targetStride: number,
): void {
  const end = rect.x + rect.width;
  const first = Math.min(Math.max(rect.x, 0), end);
  const last = Math.max(Math.min(end, stored.width), first);
  for (let y = 0; y < rect.height; y++) {
    const to = at + y * targetStride;
    const storedY = borderIndex(rect.y + y, stored.height, border);
    if (storedY < 0) {
      target.fill(0, to, to + rect.width);
      continue;
    }
    const row = offset + storedY * stride;
    const pixel = (x: number): number => {
      const storedX = borderIndex(x, stored.width, border);
      return storedX < 0 ? 0 : bytes[row + storedX]!;
    };
    for (let x = rect.x; x < first; x++) target[to + x - rect.x] = pixel(x);
    target.set(bytes.subarray(row + first, row + last), to + first - rect.x);
    for (let x = last; x < end; x++) target[to + x - rect.x] = pixel(x);
  }
}
