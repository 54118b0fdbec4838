import { svgElement } from '../elements.js';
import { describeCompact } from '../words/quantities.js';
import { valueTicks } from './axes.js';
import { chartFrame, plotOf } from './chart-frame.js';
import { countTicks, histogramBars } from './histogram-bars.js';

const height = 190;

/**
 * The chart of the counts of one channel.
 *
 * @param {readonly number[]} counts
 * @param {object} options
 * @param {string} options.name of the channel
 * @param {number} options.width pixels
 * @param {'linear' | 'log'} options.scale
 */
export function histogramChart(counts, { name, width, scale }) {
  const plot = plotOf(width, height);
  const { heights, perBar, most } = histogramBars(counts, Math.floor(plot.width / 2), scale);
  const bar = plot.width / Math.max(1, heights.length);
  const gap = bar > 4 ? 1 : 0;
  const path = heights
    .map((part, i) => {
      const [x, y] = [plot.left + i * bar, plot.bottom - part * plot.height];
      return part > 0
        ? `M${round(x)} ${plot.bottom}V${round(y)}h${round(Math.max(0.5, bar - gap))}V${plot.bottom}Z`
        : '';
    })
    .join('');
  return chartFrame(
    {
      width,
      height,
      label: `Histogram of ${name}: ${counts.length} bins, ${describeCompact(most)} in the largest`,
      across: valueTicks(counts.length - 1, Math.max(2, Math.floor(plot.width / 70)))
        .filter(Number.isInteger)
        .map((bin) => ({ at: round((bin / perBar + 0.5) * bar), words: String(bin) })),
      up: countTicks(most, scale, valueTicks(most, 4)).map((tick) => {
        return { at: round(tick.height * plot.height), words: describeCompact(tick.count) };
      }),
    },
    [svgElement('path', { class: 'bins', d: path })],
  );
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
