// What people read of jobs and nodes, on the console and in a terminal alike.

/** @import { Counts, Lack, MendedInputs, QuarantineReason } from '@halogrid/proto' */

/** What nodes decode, by the word of a need. @type {Record<string, string>} */
export const decoded = { video: 'videos', jpeg: 'JPEGs' };

/**
 * What a node cannot do, by the need that it does not meet: `read file:///data` is `cannot read /data`.
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
 * Inputs that are quarantined for one reason: how many, why, and one of them.
 *
 * @param {QuarantineReason} reason
 */
export function describeReason({ stage, error, inputs, example }) {
  return `${inputs} × ${stage ? `${stage}: ` : ''}${error}${whichOf(inputs, error, example)}`;
}

/**
 * The clause that names an input: the one there is, unless the words before name it, or one of several.
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
 * Why a complete job is no good news; undefined where something was merged, or there was nothing to merge.
 *
 * @param {{ state: string, counts?: Counts }} job
 */
export function whyNothingMerged({ state, counts }) {
  if (state !== 'JOB_STATE_COMPLETE' || !counts || counts.frames > 0 || counts.quarantined === 0) return undefined;
  const { quarantined } = counts;
  return `the results are empty: ${quarantined === 1 ? 'the only input is' : `all ${quarantined} inputs are`} quarantined`;
}

/** A file as a path, where that can be shown in a line; anything else as its URI. @param {string} uri */
export function shownPath(uri) {
  if (!uri.startsWith('file:///')) return uri;
  try {
    const path = decodeURIComponent(new URL(uri).pathname);
    return /\p{Cc}/u.test(path) ? uri : path;
  } catch {
    return uri;
  }
}
