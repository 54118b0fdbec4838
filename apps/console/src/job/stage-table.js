import { element } from '../elements.js';
import { describeCount } from '../words/quantities.js';
import { describeBriefly } from '../words/seconds.js';

/** @import { JobHistoryView, StageSummary } from '@halogrid/proto' */

/** Stages in the order in which a shard goes through them, and their names. */
const names = Object.entries({
  wait: 'waiting for a node',
  read: 'reading',
  decode: 'decoding',
  upload: 'upload to the device',
  compute: 'computing',
  readback: 'readback',
  encode: 'storing results',
  merge: 'merging',
  lease: 'from lease to merge',
});

/** A table of the time of each stage per shard. @param {JobHistoryView} history */
export function stageTable({ stages }) {
  const known = names.flatMap(([stage, words]) => {
    const summary = stages.find((one) => one.stage === stage);
    return summary ? [row(words, summary)] : [];
  });
  const heads = ['Stage', 'Median', '95 %', 'Longest', 'Shards'];
  return element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...heads.map((head, i) => element('th', { scope: 'col', class: i > 0 ? 'number' : undefined }, head)),
      ),
    ),
    element('tbody', {}, ...known),
  );
}

/** @param {string} words @param {StageSummary} summary */
function row(words, { p50, p95, max, count }) {
  const cells = [describeBriefly(p50), describeBriefly(p95), describeBriefly(max), describeCount(count)];
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, words),
    ...cells.map((cell) => element('td', { class: 'number' }, cell)),
  );
}
