import { svgElement } from '../elements.js';
import { describePixels, shortPixels } from '../words/quantities.js';
import { describeTick, timeTicks, valueTicks } from './axes.js';
import { chartFrame, plotOf } from './chart-frame.js';

/** @import { JobHistoryView } from '@halogrid/proto' */

const height = 168;

/**
 * Pixels per second over the time of a job. While the job runs, the last bucket is left out: it is not full yet, and
 * would look like a fall.
 *
 * @param {JobHistoryView} history
 * @param {number} width pixels
 * @param {boolean} isOver
 */
export function rateChart({ pixelsPerSecond: all, widthMs, elapsedMs }, width, isOver) {
  const rates = isOver || all.length < 2 ? all : all.slice(0, -1);
  const plot = plotOf(width, height);
  const seconds = Math.max(elapsedMs, widthMs) / 1000;
  const most = Math.max(...rates, 0) || 1;
  /** @param {number} ms */
  const x = (ms) => round(plot.left + Math.min(1, ms / 1000 / seconds) * plot.width);
  /** @param {number} rate */
  const y = (rate) => round(plot.bottom - (rate / most) * plot.height);
  const line = rates.map((rate, i) => `${x(i * widthMs)} ${y(rate)}H${x((i + 1) * widthMs)}`).join('L');
  const end = x(rates.length * widthMs);
  return chartFrame(
    {
      width,
      height,
      label: `Throughput over ${describeTick(Math.round(seconds))}, ${describePixels(most)} a second at most`,
      across: timeTicks(seconds, Math.max(2, Math.floor(plot.width / 90))).map((at) => {
        return { at: round((at / seconds) * plot.width), words: describeTick(at) };
      }),
      up: valueTicks(most, 4).map((at) => {
        return { at: round((at / most) * plot.height), words: at === 0 ? '0' : `${shortPixels(at)}/s` };
      }),
    },
    [
      svgElement('path', { class: 'area', d: `M${plot.left} ${plot.bottom}L${line}L${end} ${plot.bottom}Z` }),
      svgElement('path', { class: 'line', d: `M${line}` }),
    ],
  );
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
