const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en');

/** @param {number} count */
export const describeCount = (count) => whole.format(count);

/** `1 file`, `2,000 files`. @param {number} count @param {string} noun */
export const plural = (count, noun) => `${describeCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** A count in three digits: `1.23M`, `950`. @param {number} count */
export const describeCompact = (count) => compact.format(count).replace('B', 'G').replace('K', 'k');

/** A size in three digits: `1.23 MB`. @param {number} bytes */
export function describeBytes(bytes) {
  const [, digits, letter = ''] = /^([\d.,]+)(\D*)$/.exec(describeCompact(bytes)) ?? [];
  return `${digits} ${letter}B`;
}

/** A count of pixels in three digits: `37.1 Mpx`. @param {number} pixels */
export function describePixels(pixels) {
  // 'B' is the English billion, 'K' the thousand; units of measurement have G and k.
  const [, digits, letter = ''] = /^([\d.,]+)(\D*)$/.exec(compact.format(pixels)) ?? [];
  return `${digits} ${letter.replace('B', 'G').replace('K', 'k')}px`;
}

/** As `describePixels`, for a tick: `200 Mpx`, where three digits would be `200.0`. @param {number} pixels */
export const shortPixels = (pixels) => describePixels(pixels).replace(/\.0+(?=\D)/, '');

/** @param {number} pixelsPerSecond */
export const describeSpeed = (pixelsPerSecond) => (pixelsPerSecond > 0 ? `${describePixels(pixelsPerSecond)}/s` : '–');

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The time of day here: `09:05:03`. @param {number} ms since 1970 */
export const describeClock = (ms) => clock.format(ms);

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

/** The date and the time of day here: `31 Jan 2026, 09:05:03`. @param {number} ms since 1970 */
export const describeDay = (ms) => `${day.format(ms)}, ${describeClock(ms)}`;

/** A duration in its two largest units: `42 s`, `2 min 5 s`, `3 h 7 min`, `2 d 4 h`. @param {number} ms */
export function describeDuration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = /** @type {const} */ ([
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ]);
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0 s';
  let rest = seconds;
  return units
    .slice(first, first + 2)
    .map(([name, size]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return count > 0 ? `${count} ${name}` : '';
    })
    .filter((part) => part)
    .join(' ');
}
