import { element } from '../elements.js';
import { describeTimeSpent, whereTimeWent, workNames } from '../words/where-time-went.js';

/** @import { JobStatus } from '@halogrid/proto' */

/** What limits or limited a job, with the figures behind it. @param {JobStatus} job @param {number} nowMs */
export function boundBy(job, nowMs) {
  const spent = whereTimeWent(job, nowMs);
  if (!spent) return [element('p', { class: 'hint' }, 'Shown once the first results are merged.')];
  const sentences = describeTimeSpent(spent);
  const { binding, busy, bound } = spent;
  const bars = binding
    ? entriesOf(binding).map(([work, part]) => bar(workNames[work], part, bound === work))
    : entriesOf(busy).flatMap(([work, part]) => (work === 'shard' ? [] : [bar(workNames[work], part, bound === work)]));
  return [
    ...sentences.reverse().map(([name, words]) => {
      return element(
        'p',
        { class: name === 'bound by' ? 'bound' : 'hint' },
        name === 'bound by' ? `Bound by ${words}.` : `${words}.`,
      );
    }),
    element('dl', { class: 'bars' }, ...bars.flat()),
    element(
      'p',
      { class: 'hint' },
      binding
        ? 'Share of the computing time in which everything else waited for it (mean of all nodes).'
        : 'Share of the computing time in which nodes did it (mean of all nodes).',
    ),
    element('p', { class: 'hint' }, `Nodes held shards for ${percentOf(spent.busy.shard)} of the computing time.`),
  ];
}

/** @template {string} Name @param {Record<Name, number>} parts @returns {[Name, number][]} */
const entriesOf = (parts) => /** @type {[Name, number][]} */ (Object.entries(parts));

/** @param {number} part */
const percentOf = (part) => `${Math.round(part * 100)} %`;

/** @param {string} words @param {number} part @param {boolean} isMain */
function bar(words, part, isMain) {
  const percent = percentOf(part);
  const meter = element('meter', {
    min: 0,
    max: 1,
    value: part,
    'aria-label': words,
    class: isMain ? 'main' : undefined,
  });
  return [
    element('dt', { class: isMain ? 'main' : undefined }, words),
    element('dd', {}, meter, element('span', {}, percent)),
  ];
}
