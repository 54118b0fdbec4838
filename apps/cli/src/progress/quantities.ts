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

/** A duration for people: `0.42 s`, `12.3 s`, `2 min 05 s`, `3 h 07 min`. */
export function describeSeconds(seconds: number): string {
  if (seconds < 59.95) return `${threeDigits(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

/** `1 node`, `2 nodes`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const threeDigits = (value: number): string => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
const twoDigits = (value: number): string => String(value).padStart(2, '0');
