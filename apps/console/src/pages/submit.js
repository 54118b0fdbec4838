// The page that submits a job: sources from the data roots, a pipeline from the catalogue of kernels, and the plan
// before the start.
import { attempt } from '../api/attempt.js';
import { changeApi, readApi } from '../api/read-api.js';
import { button, byId, element, fieldById, fill } from '../elements.js';
import { FolderBrowser } from '../forms/folder-browser.js';
import { OperationForm } from '../forms/operation-form.js';
import { pictureOptions } from '../forms/picture-options.js';
import { planRows } from '../words/plan-rows.js';
import { shownPath } from '../words/sentences.js';

/** @import { JobSpec, JobStatus, KernelsAnswer, MayAnswer, PlanAnswer } from '@halogrid/proto' */

/** @type {string[]} */
const sources = [];
/** @type {OperationForm[]} */
const operations = [];
const browser = new FolderBrowser(addSource);

/** @param {string} source */
function addSource(source) {
  if (source === '' || sources.includes(source)) return;
  sources.push(source);
  showSources();
}

function showSources() {
  isStale();
  fill(
    'sources',
    sources.map((source) => {
      const remove = button('Remove', () => {
        sources.splice(sources.indexOf(source), 1);
        showSources();
      });
      remove.className = 'small';
      remove.setAttribute('aria-label', `Remove ${source}`);
      return element('li', {}, element('code', {}, shownPath(source)), remove);
    }),
  );
}

/** Removes the plan, because the form has changed since. */
function isStale() {
  fill('plan', []);
  byId('start').setAttribute('disabled', '');
  showNext('plan-button', 'start');
}

/** Highlights the button for the next step. @param {string} next @param {string} other */
function showNext(next, other) {
  byId(next).classList.add('main');
  byId(other).classList.remove('main');
}

/** @param {KernelsAnswer['kernels']} kernels */
function addOperation(kernels) {
  const isFirst = operations.length === 0;
  const made = new OperationForm(
    kernels,
    isFirst
      ? undefined
      : (gone) => {
          operations.splice(operations.indexOf(gone), 1);
          gone.place.remove();
          isStale();
        },
  );
  operations.push(made);
  byId('operations').append(made.place);
}

/** The specification in the form; all else has a default. @returns {Partial<JobSpec>} */
const specOf = () => ({
  sources,
  pipeline: { operations: operations.map((form) => form.operation(fieldById('border').value)) },
  mapFormat: fieldById('map').value,
  grid: gridOf(fieldById('grid').value),
  ...pictureOptions({ band: textOf('band'), scale: textOf('scale'), level: textOf('level'), page: textOf('page') }),
  out: textOf('out'),
});

/** @param {string} id */
const textOf = (id) => fieldById(id).value.trim();

/** @param {string} text */
function gridOf(text) {
  const [, rows, columns] = /^([1-9]\d{0,6})x([1-9]\d{0,6})$/.exec(text) ?? [];
  if (!rows || !columns) throw new Error(`Expected RxC with whole numbers from 1, such as 4x6, but received '${text}'`);
  return { rows: Number(rows), columns: Number(columns) };
}

async function showPlan() {
  isStale();
  if (sources.length === 0) throw new Error('Expected at least one source: add a file, a folder or a path');
  /** @type {PlanAnswer} */
  const plan = await changeApi('plan', specOf());
  fill(
    'plan',
    planRows(plan).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  );
  // A job on inputs that cannot be read has no results.
  if (plan.quarantined >= plan.sources && !plan.isPart) return;
  byId('start').removeAttribute('disabled');
  showNext('start', 'plan-button');
}

async function start() {
  /** @type {{ job: JobStatus }} */
  const { job } = await changeApi('jobs', specOf());
  location.assign(`../jobs/${encodeURIComponent(job.jobId)}`);
}

byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(showPlan);
});
byId('form').addEventListener('input', ({ target }) => {
  if (/** @type {Element} */ (target).id !== 'typed') isStale();
});
byId('start').addEventListener('click', () => void attempt(start));
byId('up').addEventListener('click', () => void attempt(() => browser.open(browser.parent)));
const typed = fieldById('typed');
const addTyped = () => {
  addSource(typed.value.trim());
  typed.value = '';
};
byId('add').addEventListener('click', addTyped);
typed.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  addTyped();
});

await attempt(async () => {
  /** @type {[MayAnswer, KernelsAnswer]} */
  const [may, { kernels, borders, mapFormats }] = await Promise.all([readApi('may'), readApi('kernels')]);
  if (!may.submit) {
    byId('form').setAttribute('hidden', '');
    throw new Error(`You cannot start jobs here. ${may.why}`);
  }
  addOperation(kernels);
  byId('more').addEventListener('click', () => addOperation(kernels));
  const usual = element('option', { value: '' }, 'default');
  byId('border').replaceChildren(usual, ...borders.map((border) => element('option', {}, border)));
  byId('map').replaceChildren(...mapFormats.map((format) => element('option', {}, format)));
  await browser.open('');
});
