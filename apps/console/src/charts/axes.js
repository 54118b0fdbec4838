/**
 * Round values from 0 up to `most`, about `count` of them. Steps are 1, 2, 2.5 (if that is whole) or 5 times a power of
 * ten.
 *
 * @param {number} most
 * @param {number} count
 */
export function valueTicks(most, count) {
  if (!(most > 0)) return [0];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = power >= 10 ? [1, 2, 2.5, 5, 10] : [1, 2, 5, 10];
  const step = steps.map((times) => times * power).find((one) => one >= rough) ?? 10 * power;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

/** Steps of a clock, in seconds. */
const clockSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/**
 * Seconds from 0 up to `most` in at most `count` steps, each of a length that is usual on a clock.
 *
 * @param {number} most
 * @param {number} count
 */
export function timeTicks(most, count) {
  const days = 86_400 * Math.ceil(most / 86_400 / count);
  const step = clockSteps.find((one) => most / one <= count) ?? days;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

/**
 * The label of a tick of `timeTicks`: `0`, `30 s`, `5 min`, `2 h`.
 *
 * @param {number} seconds
 */
export function describeTick(seconds) {
  if (seconds === 0) return '0';
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  if (seconds > 3600) return `${Math.floor(seconds / 3600)} h ${(seconds % 3600) / 60} min`;
  if (seconds % 60 === 0) return `${seconds / 60} min`;
  return seconds > 60 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${seconds} s`;
}
