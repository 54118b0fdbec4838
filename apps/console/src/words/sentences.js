// Sentences about jobs and nodes, for the console and for terminals.

/** @import { Counts, Lack, MendedInputs, QuarantineReason } from '@halogrid/proto' */

/** What nodes decode, by the word in Lack.need. @type {Record<string, string>} */
export const decoded = { video: 'videos', jpeg: 'JPEGs', slide: 'slides' };

/**
 * What a node cannot do, from the need that it does not meet: `read file:///data` gives `cannot read /data`.
 *
 * @param {string} need as Lack.need names it
 */
export function describeNeed(need) {
  const space = need.indexOf(' ');
  const [verb, what] = [need.slice(0, space), need.slice(space + 1)];
  return `cannot ${verb} ${verb === 'decode' ? (decoded[what] ?? what) : shownPath(what)}`;
}

/** @param {Pick<Lack, 'need' | 'reason'>} lack */
export const describeLack = ({ need, reason }) => (reason ? `${describeNeed(need)}: ${reason}` : describeNeed(need));

/**
 * A sentence for each reason: what a node cannot do for one reason is one cause, such as folders outside of its data
 * roots.
 *
 * @param {readonly Pick<Lack, 'need' | 'reason'>[]} lacks
 * @returns {string[]}
 */
export function describeLacks(lacks) {
  const unexplained = lacks.filter(({ reason }) => !reason);
  const byReason = Map.groupBy(
    lacks.filter(({ reason }) => reason),
    ({ need, reason }) => `${need.slice(0, need.indexOf(' '))} ${reason}`,
  );
  const explained = [...byReason.values()].map(([first, ...more]) => {
    const { need, reason } = /** @type {Lack} */ (first);
    return `${describeNeed(need)}${more.length > 0 ? ` and ${more.length} more` : ''}: ${reason}`;
  });
  return [...explained, ...unexplained.map(describeLack)];
}

/**
 * Inputs that are quarantined for one reason: how many, why, and one of them.
 *
 * @param {QuarantineReason} reason
 */
export function describeReason({ stage, error, inputs, example }) {
  return `${inputs} × ${stage ? `${stage}: ` : ''}${error}${whichOf(inputs, error, example)}`;
}

/**
 * The clause that names an input: the only one, unless the words before name it already, or an example of several.
 *
 * @param {number} inputs
 * @param {string} words
 * @param {string} example
 */
function whichOf(inputs, words, example) {
  if (!example) return '';
  const path = shownPath(example);
  if (inputs > 1) return `, e.g. ${path}`;
  return words.includes(path) ? '' : `: ${path}`;
}

/**
 * Describes inputs from which bytes were removed: how many, which bytes, and one of the inputs.
 *
 * @param {MendedInputs} mended
 */
export const describeMended = ({ mended, inputs, example }) =>
  describeReason({ stage: '', error: mended, inputs, example });

/**
 * Why the results of a complete job are empty; undefined if something was merged, or there was nothing to merge.
 *
 * @param {{ state: string, counts?: Counts }} job
 */
export function whyNothingMerged({ state, counts }) {
  if (state !== 'JOB_STATE_COMPLETE' || !counts || counts.frames > 0 || counts.quarantined === 0) return undefined;
  const { quarantined } = counts;
  return `the results are empty: ${quarantined === 1 ? 'the only input is' : `all ${quarantined} inputs are`} quarantined`;
}

/** The path of a file URI, if it fits into a line of text; other URIs as they are. @param {string} uri */
export function shownPath(uri) {
  if (!uri.startsWith('file:///')) return uri;
  try {
    const path = decodeURIComponent(new URL(uri).pathname);
    return /\p{Cc}/u.test(path) ? uri : path;
  } catch {
    return uri;
  }
}
