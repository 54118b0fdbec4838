import { histogramChart } from '@halogrid/console/charts/histogram-chart.js';
import { element, fill } from '@halogrid/console/elements.js';
import { grayValues, whiteOf } from './gray-values.js';

/** @import { Result } from '@halogrid/kernels/api' */

/** The name of a channel, if there are several: the channels of ldp are directions. @param {string} name */
const wordsOf = (name) => `${name}°`;

/** Draws each channel of a map. @param {Result<true>} result */
export function drawMaps({ width, height, channels, map, bins }) {
  const place = /** @type {HTMLElement} */ (document.getElementById('maps'));
  if (place.querySelectorAll('canvas').length !== channels.length) {
    place.classList.toggle('several', channels.length > 1);
    place.replaceChildren(...channels.map((name) => figureOf(name, channels.length)));
  }
  const pixels = width * height;
  for (const [i, canvas] of place.querySelectorAll('canvas').entries()) {
    const samples = map.subarray(i * pixels, (i + 1) * pixels);
    draw(canvas, new ImageData(grayValues(samples, whiteOf(samples, bins)), width, height));
  }
}

/** @param {string} name @param {number} count */
function figureOf(name, count) {
  const label = count > 1 ? `Map, direction ${wordsOf(name)}` : 'Map';
  const canvas = element('canvas', { role: 'img', 'aria-label': label });
  return element('figure', {}, canvas, ...(count > 1 ? [element('figcaption', {}, wordsOf(name))] : []));
}

/** Draws an image; the canvas takes its size. @param {HTMLCanvasElement} canvas @param {ImageData} image */
export function draw(canvas, image) {
  if (canvas.width !== image.width) canvas.width = image.width;
  if (canvas.height !== image.height) canvas.height = image.height;
  canvas.getContext('2d')?.putImageData(image, 0, 0);
}

/** Draws the histogram of each channel. @param {Result} result @param {'linear' | 'log'} scale */
export function drawHistograms(result, scale) {
  const place = /** @type {HTMLElement} */ (document.getElementById('histograms'));
  const several = result.channels.length > 1;
  const columns = several && place.clientWidth > 976 ? 2 : 1;
  const width = Math.max(240, place.clientWidth / columns - 40);
  const cards = countsOf(result).map(({ name, bins }) => {
    const chart = histogramChart(bins, { name: several ? wordsOf(name) : 'the map', width, scale });
    return element('div', { class: 'card' }, ...(several ? [element('h3', {}, wordsOf(name))] : []), chart);
  });
  const none = element('p', { class: 'hint' }, 'These results are values, which have no histogram.');
  fill('histograms', result.bins > 0 ? cards : [none]);
}

/** The counts of each channel, as in histogram.json. @param {Result} result */
export function countsOf({ channels, bins, histogram }) {
  return channels.map((name, i) => ({ name, bins: [...histogram.subarray(i * bins, (i + 1) * bins)] }));
}
