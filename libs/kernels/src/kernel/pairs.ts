import { intersect, type Rect } from '@halogrid/geometry';
import type { BorderMode } from './border.ts';
import type { PlaneItem } from './plane-item.ts';

/** How far a pixel's partner is to the right of it, and below it. */
export interface Step {
  readonly x: number;
  readonly y: number;
}

/**
 * Results that are pairs of levels: each channel pairs a pixel with the pixel that is a step away, and the result is
 * `levels` times the level of the pixel plus the level of its partner. So the histogram of a channel, row by row, is
 * the co-occurrence matrix of its step.
 */
export interface Pairs {
  readonly levels: number;
  /** One per channel. */
  readonly steps: readonly Step[];
  /** Whether the transpose of each matrix is added to it, so that each pair counts in both directions. */
  readonly isSymmetric: boolean;
}

/**
 * The pixels of an item that have a partner, in the stored plane's coordinates. With `interior` the partner must be in
 * the image: a stored plane ends where the image does, or beyond every partner.
 */
export function pairedPixels({ valid, stored }: PlaneItem, step: Step, border: BorderMode): Rect {
  if (border !== 'interior') return valid;
  const paired = intersect(valid, { x: -step.x, y: -step.y, ...stored });
  return paired.width > 0 && paired.height > 0 ? paired : { x: valid.x, y: valid.y, width: 0, height: 0 };
}

/** The sum of the first channel's bins of an item: its pairs, twice if each counts in both directions. */
export function countedPairs({ steps, isSymmetric }: Pairs, item: PlaneItem, border: BorderMode): number {
  const { width, height } = pairedPixels(item, steps[0]!, border);
  return width * height * (isSymmetric ? 2 : 1);
}

/** Adds its transpose to each matrix of `levels` rows, in place. */
export function addTransposes(matrices: Uint32Array, levels: number): void {
  for (let first = 0; first < matrices.length; first += levels ** 2) {
    for (let i = 0; i < levels; i++) {
      for (let j = i; j < levels; j++) {
        const [one, other] = [first + i * levels + j, first + j * levels + i];
        const sum = matrices[one]! + matrices[other]!;
        matrices[one] = sum;
        matrices[other] = sum;
      }
    }
  }
}
