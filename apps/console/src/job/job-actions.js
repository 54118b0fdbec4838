import { changeApi } from '../api/read-api.js';
import { button, element } from '../elements.js';
import { hasEnded } from '../words/progress.js';

/** @import { JobStatus } from '@halogrid/proto' */

/**
 * The buttons for a job: pause it, go on with it, cancel it, or run it again. `tell` is called with a sentence if the
 * coordinator refuses.
 *
 * @param {JobStatus} job
 * @param {(sentence: string) => void} tell
 */
export function jobActions(job, tell) {
  /** @param {string} word @param {(job: JobStatus) => void} done */
  const change = async (word, done) => {
    tell('');
    try {
      done((await changeApi(`jobs/${encodeURIComponent(job.jobId)}/${word}`)).job);
    } catch (error) {
      tell(/** @type {Error} */ (error).message);
    }
  };
  const again = () => void change('again', ({ jobId }) => location.assign(encodeURIComponent(jobId)));
  if (hasEnded(job)) return [button('Run again', again)];
  const sure = 'Cancel this job? Its results so far are discarded.';
  const pause = job.paused
    ? button('Resume', () => void change('resume', () => {}))
    : button('Pause', () => void change('pause', () => {}));
  return [pause, button('Cancel', () => confirmFirst(sure, 'Cancel the job', () => void change('cancel', () => {})))];
}

/** @param {string} question @param {string} yes @param {() => void} act */
function confirmFirst(question, yes, act) {
  const dialog = element('dialog', { 'aria-labelledby': 'question' });
  const sure = button(yes, () => {
    dialog.close();
    act();
  });
  sure.className = 'main';
  dialog.append(
    element('p', { id: 'question' }, question),
    element(
      'p',
      { class: 'actions' },
      sure,
      button('Keep running', () => dialog.close()),
    ),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
