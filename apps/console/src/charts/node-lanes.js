import { element, svgElement } from '../elements.js';
import { describeCount, describePixels } from '../words/quantities.js';
import { describeTick, timeTicks } from './axes.js';
import { laneRuns } from './lane-runs.js';

/** @import { JobHistoryView } from '@halogrid/proto' */

const height = 14;
/** Width of a lane in units of its SVG, which the page stretches. */
const across = 1000;

/**
 * A table with a lane for each node, which shows when the node held shards of the job.
 *
 * @param {JobHistoryView} history
 */
export function nodeLanes({ lanes, nodesWithoutLane, elapsedMs, widthMs }) {
  const most = Math.max(...lanes.flatMap(({ held }) => held), 0) || 1;
  const perBucket = (across * widthMs) / Math.max(elapsedMs, widthMs);
  const rows = lanes.map(({ node, held, shards, pixels }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', class: 'long' }, node),
      element('td', { class: 'lane' }, laneOf(node, laneRuns(held, most), perBucket)),
      element('td', { class: 'number' }, describeCount(shards)),
      element('td', { class: 'number' }, describePixels(pixels)),
    ),
  );
  const table = element(
    'table',
    { class: 'lanes' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', { scope: 'col' }, 'Node'),
        element('th', { scope: 'col' }, scaleOf(elapsedMs / 1000)),
        element('th', { scope: 'col', class: 'number' }, 'Shards'),
        element('th', { scope: 'col', class: 'number' }, 'Pixels'),
      ),
    ),
    element('tbody', {}, ...rows),
  );
  const words = `A stronger colour means more shards held at once (at most ${Math.ceil(most)}). A shard appears once it is merged.`;
  const more = nodesWithoutLane > 0 ? ` ${nodesWithoutLane} more nodes took part.` : '';
  return [element('div', { class: 'scroll' }, table), element('p', { class: 'hint' }, words + more)];
}

/** @param {string} node @param {ReturnType<typeof laneRuns>} runs @param {number} perBucket */
function laneOf(node, runs, perBucket) {
  const svg = svgElement('svg', { viewBox: `0 0 ${across} ${height}`, preserveAspectRatio: 'none', role: 'img' });
  svg.setAttribute('aria-label', `When ${node} held shards`);
  svg.append(
    ...runs.map(({ from, to, shade }) => {
      const [x, end] = [from * perBucket, Math.min(across, to * perBucket)];
      return svgElement('rect', { class: `shade-${shade}`, x, y: 0, width: Math.max(1, end - x), height });
    }),
  );
  return svg;
}

/** The time axis of the lanes, from 0 to `seconds`. @param {number} seconds */
function scaleOf(seconds) {
  const last = timeTicks(seconds, 4).at(-1) ?? 0;
  return element(
    'span',
    { class: 'scale' },
    element('span', {}, '0'),
    element('span', {}, describeTick(seconds < 10 ? Math.round(seconds) : Math.max(last, Math.round(seconds)))),
  );
}
