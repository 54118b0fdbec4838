// The page that finds frames: what is looked for, in which index, and what is most like it.
import { button, byId, element, fieldById, fill } from './elements.js';
import { showFrame } from './frame-dialog.js';
import { nameOfFrame, timeOfFrame } from './frame-words.js';
import { imageOf, lazyPicture, loadPicture } from './pictures.js';
import { readApi } from './read-api.js';
import { RegionPicker } from './region-picker.js';
import { cellShare, describeIndex, framesPath, searchPath, shownFrames, utcMs } from './search-query.js';
import { withToken } from './token-dialog.js';

/**
 * @import { IndexedFrame, IndexStatus, SearchResult } from '@halogrid/proto'
 * @import { Region } from './region.js'
 * @import { Wanted } from './search-query.js'
 */

/** A search waits for those before it, and has 50 s then. */
const searchMs = 120_000;
const thumbnailPx = 256;
const picturePx = 1024;

const picker = new RegionPicker(/** @type {HTMLElement} */ (byId('picture')));
const index = fieldById('index');
/** @type {IndexStatus[]} */
let indexes = [];
/** @type {Wanted | undefined} */
let wanted;
/** The first of the frames that are shown; undefined: some of all. @type {number | undefined} */
let firstShown;

/** Does what somebody asked for, and says what went wrong. @param {() => Promise<void>} act */
async function attempt(act) {
  fill('sentence', []);
  byId('connection').textContent = 'Working …';
  try {
    await withToken(act);
  } catch (error) {
    fill('sentence', [/** @type {Error} */ (error).message]);
  }
  byId('connection').textContent = '';
}

/** @param {File} file */
async function lookForFile(file) {
  wanted = { file };
  try {
    picker.open(await imageOf(file, file.name));
  } catch {
    picker.openUnseen(`${file.name} is not a format that browsers show. It can be searched with all the same.`);
  }
}

/** @param {IndexedFrame} frame */
async function lookForFrame(frame) {
  wanted = { row: frame.row ?? 0 };
  fieldById('file').value = '';
  const name = nameOfFrame(frame);
  try {
    const { image, ...size } = await loadPicture(`${frame.picture}?side=${picturePx}`, name);
    picker.open(image, size);
  } catch (error) {
    picker.openUnseen(`${name}: ${/** @type {Error} */ (error).message}`);
  }
  byId('query').scrollIntoView({ block: 'start' });
}

async function search() {
  if (!wanted) throw new Error('Choose a picture, drop one, or pick a frame of the index first');
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
  const grid = indexes.find(({ name }) => name === index.value);
  const { results } = await readApi(path, { body, timeoutMs: searchMs });
  fill(
    'results',
    results.length > 0
      ? results.map((/** @type {SearchResult} */ result, /** @type {number} */ i) => resultItem(result, i, grid))
      : [element('li', {}, 'No frame is among those asked for.')],
  );
  /** @type {HTMLElement} */ (byId('results-title')).focus();
}

/** @param {SearchResult} result @param {number} i @param {IndexStatus | undefined} grid */
function resultItem({ frame, score, cellRow, cellColumn, folded, jobId }, i, grid) {
  const cell = cellRow === undefined ? '' : `cell ${cellRow},${cellColumn}`;
  const more = folded > 0 ? `and ${folded} near it` : '';
  const words = [`${i + 1}. ${score.toFixed(4)}`, cell, more].filter(Boolean).join(' · ');
  return frameItem(
    /** @type {IndexedFrame} */ (frame),
    words,
    `${words} · job ${jobId}`,
    grid && cellShare(cellRow, cellColumn, grid),
  );
}

/**
 * A frame of a list; its picture opens it beside its map.
 *
 * @param {IndexedFrame} frame
 * @param {string} words
 * @param {string} note
 * @param {Region} [marked]
 */
function frameItem(frame, words, note, marked) {
  const name = nameOfFrame(frame);
  const open = button('', () => showFrame(frame, note, marked));
  open.className = 'open';
  open.append(lazyPicture(frame.picture, thumbnailPx, name, marked));
  open.title = frame.uri;
  return element(
    'li',
    {},
    open,
    element('strong', {}, words),
    element('span', { class: 'name' }, name),
    element('span', { class: 'hint' }, timeOfFrame(frame) || ' '),
    button('Look for this', () => attempt(() => lookForFrame(frame))),
  );
}

async function showFrames() {
  const total = indexes.find(({ name }) => name === index.value)?.frames ?? 0;
  const { first, step, count } = framesPath(firstShown, total);
  const parameters = new URLSearchParams({ index: index.value, first: `${first}`, step: `${step}`, count: `${count}` });
  const { frames } =
    total > 0 ? await readApi(`indexes/frames?${parameters}`, { timeoutMs: searchMs }) : { frames: [] };
  fill(
    'frames',
    frames.map((/** @type {IndexedFrame} */ frame) => frameItem(frame, `row ${frame.row}`, '')),
  );
  const last = first + (frames.length - 1) * step;
  fill('frames-facts', [
    frames.length > 0 ? `rows ${first} to ${last} of ${total}${step > 1 ? `, every ${step}` : ''}` : '',
  ]);
}

async function chooseIndex() {
  const chosen = indexes.find(({ name }) => name === index.value);
  fill('index-facts', [
    chosen ? describeIndex(chosen) : "There is no index: start 'halogrid coordinator' with --index DIR.",
  ]);
  for (const id of ['since-label', 'until-label']) byId(id).toggleAttribute('hidden', !chosen?.knowsCaptured);
  byId('camera-label').toggleAttribute('hidden', !chosen?.knowsCamera);
  if (wanted && 'row' in wanted) wanted = undefined;
  if (!wanted) picker.openUnseen('Nothing is chosen yet.');
  fill('results', []);
  firstShown = undefined;
  await showFrames();
}

/** Shows the run of frames before or behind. @param {number} by */
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
});
