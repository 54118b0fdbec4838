import { element } from '../elements.js';
import { describeState, describeWork } from '../words/cluster-view.js';
import { describeHeadline, jobSentences } from '../words/job-view.js';
import { hasEnded, percentDone } from '../words/progress.js';
import { describeDay } from '../words/quantities.js';

/** @import { JobStatus } from '@halogrid/proto' */

/**
 * The head of a job's page: id, state, kernels, progress, links, and sentences about the job.
 *
 * @param {JobStatus} job
 */
export function jobHead(job) {
  const { word, tone } = describeState(job);
  const asQuery = new URLSearchParams({ job: job.jobId });
  return [
    element(
      'div',
      { class: 'title' },
      element('h2', {}, element('code', {}, job.jobId)),
      element('span', { class: `state ${tone}` }, word),
    ),
    element('p', { class: 'work' }, describeWork(job.asked)),
    element('progress', { max: 100, value: percentDone(job), class: `wide ${tone}`, 'aria-label': 'Progress' }),
    element(
      'p',
      { class: 'headline' },
      element('strong', {}, describeHeadline(job)),
      element(
        'span',
        { class: 'hint' },
        ` · submitted ${describeDay(job.submittedMs)}${job.owner ? ` by ${job.owner}` : ''}`,
      ),
      ...(job.state === 'JOB_STATE_COMPLETE'
        ? [
            ' · ',
            element('a', { href: `../console/viewer.html?${asQuery}` }, 'open viewer'),
            ' · ',
            element('a', { href: `../console/changes.html?${asQuery}` }, 'show changes'),
          ]
        : []),
    ),
    ...jobSentences(job).map((sentence) => element('p', { class: `say ${sentence.tone}` }, sentence.words)),
    ...(hasEnded(job) && job.digest
      ? [element('p', { class: 'hint digest' }, 'digest ', element('code', {}, job.digest))]
      : []),
  ];
}
