/**
 * A duration for people, on the console and in terminals: `0.42 s`, `12.3 s`, `2 min 05 s`, `3 h 07 min`.
 *
 * @param {number} seconds 0 or more
 */
export function describeSeconds(seconds) {
  if (seconds < 59.95) return `${threeDigits(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

/** @param {number} value */
const threeDigits = (value) => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
/** @param {number} value */
const twoDigits = (value) => String(value).padStart(2, '0');

/**
 * A duration that may be shorter than a hundredth of a second: `3.2 µs`, `0.42 ms`, `12.3 ms`, `1.20 s`.
 *
 * @param {number} seconds 0 or more
 */
export function describeBriefly(seconds) {
  if (seconds >= 0.9995) return describeSeconds(seconds);
  return seconds >= 0.9995e-3 ? `${threeDigits(seconds * 1e3)} ms` : `${threeDigits(seconds * 1e6)} µs`;
}
