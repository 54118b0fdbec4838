import { downloadLink } from '../api/download-link.js';
import { element } from '../elements.js';
import { describeCount } from '../words/quantities.js';
import { shownPath } from '../words/sentences.js';

/** @import { QuarantinedGroup, QuarantinedInputs } from '@halogrid/proto' */

/**
 * Quarantined inputs by reason; each reason opens a list of its files.
 *
 * @param {QuarantinedInputs} inputs
 * @param {string} errorsPath of errors.jsonl below the API; empty: there is none
 */
export function quarantinedList({ groups, leftOut }, errorsPath) {
  if (groups.length === 0) return [element('p', { class: 'hint' }, 'None.')];
  return [
    ...groups.map(groupOf),
    ...(leftOut > 0
      ? [element('p', { class: 'hint' }, `${describeCount(leftOut)} more files are not listed here.`)]
      : []),
    ...(errorsPath
      ? [
          element(
            'p',
            { class: 'hint' },
            downloadLink(errorsPath, 'errors.jsonl', 'errors.jsonl'),
            ' lists all of them.',
          ),
        ]
      : []),
  ];
}

/** @param {QuarantinedGroup} group */
function groupOf({ stage, error, inputs, files }) {
  const words = [
    element('strong', {}, describeCount(inputs)),
    ` × ${stage ? `${stage}: ` : ''}`,
    element('span', {}, error),
  ];
  if (files.length === 0) return element('p', { class: 'group' }, ...words);
  return element(
    'details',
    { class: 'group' },
    element('summary', {}, ...words),
    element(
      'ul',
      {},
      ...files.map((file) => {
        const name = shownPath(file.uri) + (file.frame > 0 ? `, frame ${file.frame}` : '');
        const more = file.error === error ? [] : [element('span', { class: 'hint' }, ` ${file.error}`)];
        return element('li', {}, element('code', {}, name), ...more);
      }),
    ),
  );
}
