import {
  addBits,
  anyInSquare,
  type BitPlane,
  createBitPlane,
  cropBits,
  hasBit,
  isBlank,
  type Rect,
  setBit,
} from '@halogrid/geometry';
import { type BorderMode, borderIndex } from '../kernel/border.ts';
import type { Step } from '../kernel/pairs.ts';
import type { Pipeline } from './pipeline.ts';
import type { StagePlan } from './pipeline-item.ts';

/** The pixels of a stored plane that do not count, for two reasons. */
export interface UncountedPixels {
  /** Pixels without a value. No pixel counts whose result depends on one. */
  noData?: BitPlane | undefined;
  /** Pixels with a value that other pixels may read; they do not count themselves. */
  masked?: BitPlane | undefined;
}

/**
 * The pixels of the last kernel's `out` that are excluded: they do not count, and the dense result has the value of
 * `emptySample` there. One plane or, if results are pairs, one per channel. Undefined if no pixel is excluded.
 *
 * A result depends on the whole square of the halo, each kernel's in turn, and a pair on its two pixels. A pixel beyond
 * the image is without a value if the border rule copies it from such a pixel.
 */
export function excludedPixels(
  { operations }: Pick<Pipeline, 'operations'>,
  stages: readonly StagePlan[],
  { noData, masked }: UncountedPixels,
): readonly BitPlane[] | undefined {
  let [lacking, hidden] = [someOf(noData), someOf(masked)];
  let planes: BitPlane[] = [];
  for (const [i, { halo, border, pairs }] of operations.entries()) {
    if (!lacking && !hidden) return undefined;
    const { out } = stages[i]!;
    if (pairs && i === operations.length - 1) {
      const both = extended(union(lacking, hidden)!, out, halo, border);
      planes = pairs.steps.map((step) => eitherOfPair(both, out, halo, step));
    } else {
      lacking = lacking && someOf(anyInSquare(extended(lacking, out, halo, border), 2 * halo + 1));
      hidden = hidden && someOf(cropBits(hidden, out));
      const one = union(lacking, hidden);
      planes = one ? [one] : [];
    }
  }
  return planes.every(isBlank) ? undefined : planes;
}

const someOf = (plane: BitPlane | undefined): BitPlane | undefined => (plane && !isBlank(plane) ? plane : undefined);

/** The bits of either; the planes have the same size. */
function union(a: BitPlane | undefined, b: BitPlane | undefined): BitPlane | undefined {
  if (!a || !b) return a ?? b;
  return { ...a, words: a.words.map((word, i) => word | b.words[i]!) };
}

/** The bits of `out` and of `halo` pixels around it. Pixels outside the plane follow the border rule. */
function extended(plane: BitPlane, out: Rect, halo: number, border: BorderMode): BitPlane {
  const [left, top] = [out.x - halo, out.y - halo];
  const around = createBitPlane({ width: out.width + 2 * halo, height: out.height + 2 * halo });
  const [right, bottom] = [left + around.width, top + around.height];
  const x = Math.max(left, 0);
  const y = Math.max(top, 0);
  const [endX, endY] = [Math.min(right, plane.width), Math.min(bottom, plane.height)];
  addBits(plane, { x, y, width: endX - x, height: endY - y }, around, { x: x - left, y: y - top });
  for (let row = top; row < bottom; row++) {
    const isInside = row >= y && row < endY;
    const from = borderIndex(row, plane.height, border);
    if (from < 0) continue;
    for (let column = left; column < right; column++) {
      if (isInside && column === x) column = endX;
      if (column >= right) break;
      const at = borderIndex(column, plane.width, border);
      if (at >= 0 && hasBit(plane, at, from)) setBit(around, column - left, row - top);
    }
  }
  return around;
}

/** Whether a pixel of `out`, or its partner, has a bit in a plane that has `halo` pixels more on each side. */
function eitherOfPair(around: BitPlane, { width, height }: Rect, halo: number, { x, y }: Step): BitPlane {
  const either = createBitPlane({ width, height });
  for (const at of [
    { x: halo, y: halo },
    { x: halo + x, y: halo + y },
  ])
    addBits(around, { ...at, width, height }, either, { x: 0, y: 0 });
  return either;
}
