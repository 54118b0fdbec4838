// The viewer of a complete job: a source and its map side by side, to zoom and move, and the histogram of the source.
import { attempt } from '../api/attempt.js';
import { queryOf } from '../api/query-of.js';
import { apiUrl, readApi, readPicture } from '../api/read-api.js';
import { HistogramSection } from '../charts/histogram-section.js';
import { byId, element, fieldById, fill } from '../elements.js';
import { regionOfCells } from '../frames/region.js';
import { resultPath } from '../job/result-list.js';
import { cellAt } from '../viewer/cell-at.js';
import { FilmStrip } from '../viewer/film-strip.js';
import { mapTiles, sourceTiles } from '../viewer/tile-sources.js';
import { showChanges } from '../viewer/viewer-changes.js';
import { ZoomSide } from '../viewer/zoom-side.js';
import { describeCount, describeDuration } from '../words/quantities.js';
import { shownPath } from '../words/sentences.js';

/**
 * @import { FrameHistograms, FramesAnswer, ImageAnswer, IndexedFrame } from '@halogrid/proto'
 * @import { JobFrame, JobStatus, ResultsAnswer } from '@halogrid/proto'
 */

/** The whole of a larger image is shown only as its preview. */
const maxWholePixels = 2 ** 26;
const wholeSide = 2048;

const query = new URLSearchParams(location.search);
const jobId = query.get('job') ?? '';
const path = `jobs/${encodeURIComponent(jobId)}`;
/** @type {ZoomSide} */
const source = new ZoomSide(
  placeOf('source'),
  'Source',
  (side) => together(side, map),
  (side) => came(side, map),
);
const map = new ZoomSide(
  placeOf('map'),
  'Map',
  (side) => together(side, source),
  (side) => came(side, source),
);
const histogram = new HistogramSection(byId('histogram'), () => goTo(shownIndex), markCell);
const strip = new FilmStrip(path, goTo);
/** @type {Set<string>} */
let files = new Set();
let mapFormat = 'none';
/** Names of the job's pipelines; an only pipeline without a name has an empty one. @type {readonly string[]} */
let pipelines = [''];
/** The number of the shown source in the job. */
let shownIndex = 0;
let total = 0;
/** The grid over the shown source, and the size of the source in pixels. */
let grid = { rows: 1, columns: 1, width: 1, height: 1 };
/** The number of the last request: answers to earlier ones are ignored. */
let asked = 0;
let isFollowing = false;

/** @param {string} id */
function placeOf(id) {
  return /** @type {HTMLElement} */ (byId(id));
}

/** @param {ZoomSide} moved @param {ZoomSide} other */
function together(moved, other) {
  if (isFollowing) return;
  isFollowing = true;
  other.follow(moved);
  isFollowing = false;
}

/**
 * A picture has loaded: moves it to the part that the other side shows.
 *
 * @param {ZoomSide} side
 * @param {ZoomSide} other
 */
function came(side, other) {
  together(other, side);
  markCell();
}

/** Name of the pipeline that is shown. */
const pipeline = () => histogram.pipeline || (pipelines[0] ?? '');

/** The path of a result file of that pipeline. @param {string} name */
const inPipeline = (name) => (pipeline() ? `pipelines/${pipeline()}/${name}` : name);

/** Marks the cell that the histogram shows. */
function markCell() {
  const part = histogram.cell === undefined ? undefined : regionOfCells([histogram.cell], grid);
  for (const side of [source, map]) side.mark(part);
}

/** Shows the histogram of the cell under the pointer. @param {{ x: number, y: number } | undefined} at */
function pointAt(at) {
  histogram.point(at && cellAt(at, grid, grid));
  markCell();
}

/** @param {string} which the API query of the source: `from=N`, or `uri=…&frame=N` */
async function show(which) {
  const mine = ++asked;
  /** @type {FramesAnswer} */
  const answer = await readApi(`${path}/frames?${which}&count=1`);
  if (mine !== asked) return;
  total = answer.total;
  const [frame] = answer.frames;
  shownIndex = frame?.index ?? shownIndex;
  if (!frame) throw new Error('The job has no source with that number');
  history.replaceState(null, '', `?${new URLSearchParams({ job: jobId, source: String(frame.index) })}`);
  tell(frame);
  void strip.show(frame.index, total);
  if (frame.name === '') {
    for (const side of [source, map]) side.say('Quarantined: the page of the job shows the reason.');
    return histogram.say('Quarantined: it has no histogram.');
  }
  await Promise.all([
    showSource(frame, () => mine === asked),
    showMap(frame, () => mine === asked),
    showHistogram(frame, () => mine === asked),
  ]);
}

/** @param {JobFrame} frame */
function tell(frame) {
  const { uri, index, timestampMs } = frame;
  const inside = frame.frame === undefined ? '' : `, frame ${frame.frame}`;
  const at = timestampMs === undefined ? '' : `, at ${describeDuration(timestampMs)}`;
  fill('name', [(shownPath(uri).split('/').at(-1) ?? '') + inside + at]);
  byId('name').setAttribute('title', shownPath(uri));
  const similar = new URLSearchParams({ job: jobId, source: String(index) });
  byId('similar').setAttribute('href', `search.html?${similar}`);
  const field = fieldById('at');
  field.max = String(total - 1);
  field.value = String(index);
  byId('browser').toggleAttribute('hidden', total < 2);
  fill('place', [`${describeCount(index + 1)} of ${describeCount(total)}`]);
  fill('source-words', [frame.name === '' ? 'Source' : `Source, ${frame.width} × ${frame.height} pixels`]);
}

/** @param {JobFrame} frame @param {() => boolean} isWanted */
async function showSource(frame, isWanted) {
  const { index, name, width, height } = frame;
  const preview = inPipeline(`preview/${name}.source.jpg`);
  try {
    const [{ readsParts }, whole] = await Promise.all([
      /** @type {Promise<ImageAnswer>} */ (readApi(`${path}/image?index=${index}`)),
      width * height <= maxWholePixels
        ? readPicture(`/api/v1/${path}/picture?index=${index}&side=${wholeSide}`)
        : files.has(preview) && readPicture(`/api/v1/${resultPath(jobId, preview)}`),
    ]);
    if (!isWanted()) return;
    const layers = [
      ...(whole ? [{ type: 'image', url: URL.createObjectURL(whole.picture) }] : []),
      ...(readsParts && Math.max(width, height) > wholeSide
        ? [sourceTiles(frame, (part) => apiUrl(`${path}/picture?index=${index}&${part}`))]
        : []),
    ];
    if (layers.length > 0) source.show(layers, width);
    else source.say('It is too large to show whole, and its format cannot be read by region.');
  } catch (error) {
    if (isWanted()) source.say(/** @type {Error} */ (error).message);
  }
}

/** @param {JobFrame} frame @param {() => boolean} isWanted */
async function showMap({ name, width, height }, isWanted) {
  const preview = inPipeline(`preview/${name}.png`);
  const whole = mapFormat === 'png' ? inPipeline(`maps/${name}.png`) : files.has(preview) ? preview : '';
  fill('map-words', [describeMap(whole)]);
  if (mapFormat === 'dzi') {
    const folder = inPipeline(`maps/${name}_files`);
    return map.show([mapTiles({ width, height }, (file) => apiUrl(resultPath(jobId, `${folder}/${file}`)))], width);
  }
  if (!whole) return map.say('The job has no map of this source. Run it with --map dzi to view maps.');
  const { picture } = await readPicture(`/api/v1/${resultPath(jobId, whole)}`);
  // The user may have gone to another source meanwhile.
  if (isWanted()) map.show([{ type: 'image', url: URL.createObjectURL(picture) }], width);
}

/** @param {string} whole the file of its picture, if it is not in tiles */
function describeMap(whole) {
  if (mapFormat === 'dzi') return 'Map, full resolution';
  return whole === '' || whole.includes('maps/') ? 'Map' : 'Map, preview';
}

/** @param {JobFrame} frame @param {() => boolean} isWanted */
async function showHistogram({ index, counted, ...size }, isWanted) {
  try {
    /** @type {FrameHistograms} */
    const { rows, columns, channels, cells } = await readApi(
      `${path}/frame?${new URLSearchParams({ index: String(index), pipeline: pipeline() })}`,
    );
    if (!isWanted()) return;
    grid = { ...size, rows, columns };
    const labels = (cells[0]?.bins.length ?? 0) / channels.length;
    // PNG maps hold the labels as values: the few labels of uniform patterns would all look black.
    const isDark = mapFormat === 'png' && labels > 1 && labels < 256;
    map.brighten(isDark ? 255 / (labels - 1) : 1);
    if (isDark) fill('map-words', [`Map, ${labels} labels from black to white`]);
    histogram.showCells({ counted, channels, cells, columns, rows, pipelines });
    markCell();
  } catch (error) {
    if (isWanted()) histogram.say(/** @type {Error} */ (error).message);
  }
}

/** @param {number} index */
function goTo(index) {
  void attempt(() => show(`from=${Math.min(total - 1, Math.max(0, index))}`));
}

/** @param {IndexedFrame} frame */
const goToFrame = ({ uri, frame, isVideo }) =>
  void attempt(() => show(queryOf({ uri, frame: isVideo ? frame : undefined })));

byId('at').addEventListener('input', () => goTo(Number(fieldById('at').value)));
byId('changed').addEventListener('click', () => void attempt(() => showChanges(jobId, pipeline(), goToFrame)));
for (const side of [source, map]) side.onPoint(pointAt);
byId('before').addEventListener('click', () => goTo(Number(fieldById('at').value) - 1));
byId('after').addEventListener('click', () => goTo(Number(fieldById('at').value) + 1));
/** @param {number} by */
const zoom = (by) => (source.viewport ?? map.viewport)?.zoomBy(by);
byId('zoom-in').addEventListener('click', () => zoom(1.6));
byId('zoom-out').addEventListener('click', () => zoom(1 / 1.6));
byId('whole').addEventListener('click', () => (source.viewport ?? map.viewport)?.goHome());

await attempt(async () => {
  if (jobId === '') throw new Error('No job in the address: open the viewer from the page of a job');
  /** @type {[{ job: JobStatus }, ResultsAnswer]} */
  const [{ job }, results] = await Promise.all([readApi(path), readApi(`${path}/results`)]);
  document.title = `Viewer of ${job.jobId} – halogrid`;
  files = new Set(results.files.map(({ name }) => name));
  mapFormat = job.spec?.mapFormat ?? 'none';
  pipelines = job.spec?.pipelines?.named.map(({ name }) => name) ?? [''];
  fill('job-link', [
    element('a', { href: `../jobs/${encodeURIComponent(job.jobId)}` }, element('code', {}, job.jobId)),
  ]);
  const first = Number(query.get('source') ?? '0');
  const named = query.get('uri');
  const isNumber = Number.isInteger(first) && first >= 0;
  await show(
    named === null
      ? `from=${isNumber ? first : 0}`
      : `${new URLSearchParams({ uri: named, frame: query.get('frame') ?? '0' })}`,
  );
});
