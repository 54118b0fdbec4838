/**
 * The heights of the bars of a histogram. If there are more bins than `room`, a bar stands for several neighbours and
 * shows the largest of them, so that no peak is hidden.
 *
 * @param {readonly number[]} counts
 * @param {number} room bars at most
 * @param {'linear' | 'log'} scale
 * @returns {{ heights: number[], perBar: number, most: number }} heights in [0, 1]; bins a bar; the greatest count
 */
export function histogramBars(counts, room, scale) {
  const perBar = Math.max(1, Math.ceil(counts.length / Math.max(1, room)));
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  const bars = Array.from({ length: Math.ceil(counts.length / perBar) }, (_, i) =>
    counts.slice(i * perBar, (i + 1) * perBar).reduce((a, b) => Math.max(a, b), 0),
  );
  const top = heightOf(most, scale) || 1;
  return { heights: bars.map((count) => heightOf(count, scale) / top), perBar, most };
}

/**
 * Ticks of the count axis, with their heights in [0, 1].
 *
 * @param {number} most
 * @param {'linear' | 'log'} scale
 * @param {readonly number[]} linear ticks of the linear scale
 */
export function countTicks(most, scale, linear) {
  if (scale === 'linear') return linear.map((count) => ({ count, height: count / (most || 1) }));
  const powers = Math.max(0, Math.floor(Math.log10(most || 1)));
  const step = Math.max(1, Math.ceil((powers + 1) / 5));
  const counts = [0, ...Array.from({ length: powers + 1 }, (_, power) => 10 ** power).filter((_, i) => i % step === 0)];
  return counts.map((count) => ({ count, height: heightOf(count, scale) / (heightOf(most, scale) || 1) }));
}

/**
 * The height of a bar. The log scale uses log10(1 + count): 0 has no bar, and 1 has one.
 *
 * @param {number} count
 * @param {'linear' | 'log'} scale
 */
const heightOf = (count, scale) => (scale === 'log' ? Math.log10(1 + count) : count);
