// The search page: a query, an index, and the frames that are most like the query.
import { attempt } from '../api/attempt.js';
import { readApi } from '../api/read-api.js';
import { byId, element, fieldById, fill } from '../elements.js';
import { frameItem, resultItem } from '../frames/frame-items.js';
import { imageOf, loadPicture } from '../frames/pictures.js';
import { RegionPicker } from '../frames/region-picker.js';
import { describeIndex, framesPath, searchPath, shownFrames, utcMs } from '../frames/search-query.js';
import { describeMoment, shortFrameName } from '../words/frame-words.js';

/**
 * @import { FramesAnswer, IndexedFrame, IndexStatus, SearchResult } from '@halogrid/proto'
 * @import { Wanted } from '../frames/search-query.js'
 */

/** A search waits for earlier searches, and may then take 50 s. */
const searchMs = 120_000;
const picturePx = 1024;

const picker = new RegionPicker(/** @type {HTMLElement} */ (byId('picture')));
const index = fieldById('index');
/** @type {IndexStatus[]} */
let indexes = [];
/** @type {Wanted | undefined} */
let wanted;
/** The first frame of the run that is shown; undefined: frames spread over the index. @type {number | undefined} */
let firstShown;

/** @param {File} file */
async function lookForFile(file) {
  wanted = { file };
  try {
    picker.open(await imageOf(file, file.name));
  } catch {
    picker.openUnseen(`This browser cannot show ${file.name}, but you can search with it.`);
  }
}

/** @param {IndexedFrame} frame */
async function lookForFrame(frame) {
  wanted = { row: frame.row ?? 0 };
  fieldById('file').value = '';
  const name = shortFrameName(frame);
  try {
    const { image, ...size } = await loadPicture(`${frame.picture}?side=${picturePx}`, name);
    picker.open(image, size);
  } catch (error) {
    picker.openUnseen(`${name}: ${/** @type {Error} */ (error).message}`);
  }
  byId('query').scrollIntoView({ block: 'start' });
}

/** Searches for a source of a job: the viewer links to this. @param {string} jobId @param {string} source its number */
async function lookForSource(jobId, source) {
  const path = `jobs/${encodeURIComponent(jobId)}`;
  /** @type {FramesAnswer} */
  const { frames } = await readApi(`${path}/frames?from=${encodeURIComponent(source)}&count=1`);
  const [found] = frames;
  if (!found) throw new Error('The job has no source with that number');
  wanted = { uri: found.uri, frame: found.frame ?? 0 };
  const picture = `/api/v1/${path}/picture?index=${found.index}&side=${picturePx}`;
  const { image, ...size } = await loadPicture(picture, describeMoment(found));
  picker.open(image, size);
  await search();
}

/** @param {IndexedFrame} frame */
const pick = (frame) => void attempt(() => lookForFrame(frame));

const chosenIndex = () => indexes.find(({ name }) => name === index.value);

async function search() {
  if (!wanted) throw new Error('Choose an image, drop one, or pick a frame of the index first');
  const path = searchPath(index.value, wanted, {
    region: picker.text,
    distance: fieldById('distance').value,
    top: fieldById('top').value,
    cells: fieldById('cells').checked ? 'true' : '',
    per_source: fieldById('per-source').value,
    group: fieldById('group').value,
    camera: fieldById('camera').value,
    since_ms: utcMs(fieldById('since').value),
    until_ms: utcMs(fieldById('until').value),
  });
  const body = 'file' in wanted ? wanted.file : undefined;
  const chosen = chosenIndex();
  const { results } = await readApi(path, { body, timeoutMs: searchMs });
  // The user may have chosen another index meanwhile.
  if (chosen !== chosenIndex()) return;
  fill(
    'results',
    results.length > 0
      ? results.map((/** @type {SearchResult} */ result, /** @type {number} */ i) =>
          resultItem(result, i, chosen, pick),
        )
      : [element('li', {}, 'No frame matches these options.')],
  );
  /** @type {HTMLElement} */ (byId('results-title')).focus();
}

async function showFrames() {
  const chosen = chosenIndex();
  const total = chosen?.frames ?? 0;
  const { first, step, count } = framesPath(firstShown, total);
  const parameters = new URLSearchParams({ index: index.value, first: `${first}`, step: `${step}`, count: `${count}` });
  const { frames } =
    total > 0 ? await readApi(`indexes/frames?${parameters}`, { timeoutMs: searchMs }) : { frames: [] };
  if (chosen !== chosenIndex()) return;
  fill(
    'frames',
    frames.map((/** @type {IndexedFrame} */ frame) => frameItem(frame, { words: `row ${frame.row}`, note: '' }, pick)),
  );
  const last = first + (frames.length - 1) * step;
  fill('frames-facts', [
    frames.length > 0 ? `rows ${first} to ${last} of ${total}${step > 1 ? `, in steps of ${step}` : ''}` : '',
  ]);
}

async function chooseIndex() {
  const chosen = chosenIndex();
  fill('index-facts', [
    chosen ? describeIndex(chosen) : "There is no index: start 'halogrid coordinator' with --index DIR.",
  ]);
  for (const [id, isKnown] of /** @type {const} */ ([
    ['since', chosen?.knowsCaptured],
    ['until', chosen?.knowsCaptured],
    ['camera', chosen?.knowsCamera],
  ])) {
    byId(`${id}-label`).toggleAttribute('hidden', !isKnown);
    if (!isKnown) fieldById(id).value = '';
  }
  if (wanted && 'row' in wanted) wanted = undefined;
  if (!wanted) picker.openUnseen('No image is chosen yet.');
  fill('results', []);
  firstShown = undefined;
  await showFrames();
}

/** Shows the previous or the next run of frames. @param {number} by */
function turn(by) {
  firstShown = Math.max(0, (firstShown ?? 0) + by);
  return attempt(showFrames);
}

byId('query').addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(search);
});
byId('region-clear').addEventListener('click', () => picker.clear());
index.addEventListener('change', () => attempt(chooseIndex));
byId('all').addEventListener('click', () => {
  firstShown = undefined;
  void attempt(showFrames);
});
byId('earlier').addEventListener('click', () => turn(-shownFrames));
byId('later').addEventListener('click', () => turn(shownFrames));
fieldById('file').addEventListener('change', ({ target }) => {
  const [file] = /** @type {HTMLInputElement} */ (target).files ?? [];
  if (file) void attempt(() => lookForFile(file));
});
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  if (file) void attempt(() => lookForFile(file));
});

await attempt(async () => {
  ({ indexes } = await readApi('indexes', { timeoutMs: searchMs }));
  index.replaceChildren(...indexes.map(({ name }) => element('option', {}, name)));
  await chooseIndex();
  const asked = new URLSearchParams(location.search);
  const [jobId, source] = [asked.get('job'), asked.get('source')];
  if (jobId && source && indexes.length > 0) await lookForSource(jobId, source);
});
