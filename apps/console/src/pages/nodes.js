// The page of nodes: attached nodes, and nodes that left, with the reason.

import { readApi } from '../api/read-api.js';
import { withToken } from '../api/token-dialog.js';
import { byId, element, fill } from '../elements.js';
import { leftRow, nodeCard, nodeFigures } from '../words/node-view.js';
import { Rates } from '../words/rates.js';

/** @import { NodesListResponse } from '@halogrid/proto' */

const everyMs = 1_000;
/** Cards that are drawn at most: more would keep the browser busy. */
const mostShown = 200;
const rates = new Rates();
const heads = ['Node', 'Left', 'Reason', 'Device', 'Shards', 'Pixels'];

/** @param {NodesListResponse} answer */
function show({ nodes, left }) {
  const ms = Date.now();
  rates.take(ms, new Map(nodes.map(({ nodeId, pixelsDone }) => [`node ${nodeId}`, pixelsDone])));
  const figures = nodeFigures(nodes, left, rates);
  fill(
    'facts',
    figures.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
  const cards = nodes.slice(0, mostShown).map((node) => cardOf(nodeCard(node, ms, rates)));
  const more = nodes.length > mostShown ? [note(`${nodes.length - mostShown} more nodes are not shown.`)] : [];
  fill(
    'nodes',
    nodes.length > 0
      ? [...cards, ...more]
      : [note('No node is attached. Start one: halogrid node --coordinator HOST:PORT')],
  );
  const rows = left
    .map((node) => leftRow(node, ms))
    .map(({ cells, isLost }) =>
      element(
        'tr',
        {},
        ...cells.map((cell, i) => element('td', { class: cellClass(i, isLost), 'data-label': heads[i] ?? '' }, cell)),
      ),
    );
  fill(
    'left',
    rows.length > 0 ? rows : [element('tr', {}, element('td', { colspan: heads.length, class: 'empty' }, 'None.'))],
  );
}

/** @param {number} column @param {boolean} isLost */
function cellClass(column, isLost) {
  if (column >= 4) return 'number';
  if (column === 2) return isLost ? 'bad free' : 'free';
  return column === 3 ? 'free' : '';
}

/** @param {string} words */
const note = (words) => element('li', { class: 'hint none' }, words);

/** @param {ReturnType<typeof nodeCard>} node */
function cardOf({ name, state, device, rows, lacks, lastFailure }) {
  return element(
    'li',
    { class: 'card' },
    element(
      'h3',
      {},
      element('span', { class: 'name', title: name }, name),
      element('span', { class: `state ${state.tone}` }, state.word),
    ),
    element('p', { class: 'device' }, device),
    element(
      'dl',
      { class: 'rows' },
      ...rows.flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]),
    ),
    ...lacks.map((lack) => element('p', { class: 'say wait' }, lack)),
    ...(lastFailure ? [element('p', { class: 'say bad' }, `Last failure ${lastFailure}`)] : []),
  );
}

for (;;) {
  try {
    show(await withToken(() => readApi('nodes')));
    byId('connection').textContent = 'Live';
    byId('connection').className = '';
  } catch (error) {
    byId('connection').textContent = `No answer from the coordinator: ${/** @type {Error} */ (error).message}`;
    byId('connection').className = 'lost';
  }
  await new Promise((resolve) => setTimeout(resolve, everyMs));
}
