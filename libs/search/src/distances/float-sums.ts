import type { Vector } from './vector.ts';

/*
 * Distances that are not a ratio of small whole numbers. They are defined as these loops in float64: every operation is
 * one that IEEE 754 rounds correctly (+, -, *, /, sqrt), in this order, over the bins from the first to the last. So
 * every machine has the same bits. Equal shares are equal floats, whatever the masses, because a division is rounded
 * correctly.
 */

/** Chi-square: 1/2 sum((p - q)^2 / (p + q)) over the bins that are not empty in both, from 0 to 1. */
export function chiSquare(a: Vector, b: Vector): number {
  let sum = 0;
  for (let i = 0; i < a.bins.length; i++) {
    const p = a.bins[i]! / a.mass;
    const q = b.bins[i]! / b.mass;
    const both = p + q;
    if (both > 0) sum += ((p - q) * (p - q)) / both;
  }
  return sum / 2;
}

/**
 * Hellinger: sqrt(1/2 sum((sqrt(p) - sqrt(q))^2)), from 0 to 1; its square is 1 less the coefficient of Bhattacharyya.
 */
export function hellinger(a: Vector, b: Vector): number {
  let sum = 0;
  for (let i = 0; i < a.bins.length; i++) {
    const difference = Math.sqrt(a.bins[i]! / a.mass) - Math.sqrt(b.bins[i]! / b.mass);
    sum += difference * difference;
  }
  return Math.sqrt(sum / 2);
}

/**
 * Cosine: sum(a b) / sqrt(sum(a a) sum(b b)) of the counts themselves, from 0 to 1; it does not depend on the masses.
 */
export function cosine(a: Vector, b: Vector): number {
  let [product, ours, theirs] = [0, 0, 0];
  for (let i = 0; i < a.bins.length; i++) {
    const [x, y] = [a.bins[i]!, b.bins[i]!];
    product += x * y;
    ours += x * x;
    theirs += y * y;
  }
  return product / Math.sqrt(ours * theirs);
}
