export { describeSeconds } from '@halogrid/console/words/seconds.js';

const scales = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** A count of pixels in three digits: `37.1 Mpx`. */
export function describePixels(pixels: number): string {
  for (const [scale, letter] of scales) {
    // Below 999.5 of the next smaller unit, three digits round down to that unit.
    if (pixels >= scale * 0.9995) return `${threeDigits(pixels / scale)} ${letter}px`;
  }
  return `${Math.round(pixels)} px`;
}

/** `1 node`, `2 nodes`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const threeDigits = (value: number): string => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
