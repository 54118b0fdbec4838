import { svgElement } from '../elements.js';
import { describePixels, shortPixels } from '../words/quantities.js';
import { areaPath } from './area-path.js';
import { describeTick, valueTicks } from './axes.js';
import { chartFrame, plotOf } from './chart-frame.js';

const height = 112;
/** Seconds between labels of the time axis. */
const stepSeconds = 60;

/**
 * Throughput over the last seconds, the newest at the right. The time before the page was opened is empty.
 *
 * @param {readonly number[]} speeds pixels a second, one a second
 * @param {number} seconds that the chart shows
 * @param {number} width pixels
 */
export function speedChart(speeds, seconds, width) {
  const plot = plotOf(width, height);
  const most = Math.max(...speeds, 0);
  const drawn = (plot.width * Math.max(0, speeds.length - 1)) / seconds;
  const path = areaPath(speeds, drawn, plot.height);
  const ticks = Array.from({ length: Math.floor(seconds / stepSeconds) + 1 }, (_, i) => i * stepSeconds);
  return chartFrame(
    {
      width,
      height,
      label: `Throughput over the last ${describeTick(seconds)}, ${describePixels(most)} a second at most`,
      across: ticks.map((at) => {
        const ago = seconds - at;
        return {
          at: (at / seconds) * plot.width,
          words: ago === 0 ? 'now' : ago === seconds ? `${describeTick(ago)} ago` : describeTick(ago),
        };
      }),
      up: valueTicks(most, 3).map((at) => {
        return { at: most > 0 ? (at / most) * plot.height : 0, words: at === 0 ? '0' : `${shortPixels(at)}/s` };
      }),
    },
    path
      ? [svgElement('path', { class: 'area line', d: path, transform: `translate(${plot.right - drawn} ${plot.top})` })]
      : [],
  );
}
