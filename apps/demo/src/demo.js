import { byId, element, fieldById, fill } from '@halogrid/console/elements.js';
import { OperationForm } from '@halogrid/console/forms/operation-form.js';
import { describeCount } from '@halogrid/console/words/quantities.js';
import { borders, kernelForms, open, pipeline } from '@halogrid/kernels/api';
import { countsOf, draw, drawHistograms, drawMaps } from './draw-result.js';
import { FrameRate } from './frame-rate.js';
import { openCamera, openPicture } from './sources.js';

/** @import { Border, Device, Result, Run } from '@halogrid/kernels/api' */

const form = new OperationForm(kernelForms().filter(({ name }) => name !== 'conv'));
const rate = new FrameRate();
/** @type {Device | undefined} */
let device;
/** @type {{ op: string, run: Run<object> } | undefined} */
let chosen;
/** @type {ImageData | undefined} */
let frame;
/** @type {Result<true> | undefined} */
let result;
/** The part of the result that is saved. @type {object | undefined} */
let found;
let savedUrl = '';
/** @type {(() => void) | undefined} */
let closeCamera;
/** @type {'linear' | 'log'} */
let scale = 'linear';
/** The work in progress: one frame after another. @type {Promise<void>} */
let work = Promise.resolve();
/** How many requests are not done. */
let asked = 0;

/** Runs a user's request, and shows an error if it fails. @param {() => Promise<void> | void} act */
function trying(act) {
  asked++;
  byId('main').setAttribute('aria-busy', 'true');
  return next(() => {
    fill('trouble', []);
    return act();
  }).then(() => byId('main').setAttribute('aria-busy', String(--asked > 0)));
}

/** Runs something after all earlier work. @param {() => Promise<void> | void} act */
function next(act) {
  work = work.then(act).catch((error) => fill('trouble', [error.message]));
  return work;
}

/** Opens the chosen device. */
async function choosePlace() {
  const on = /** @type {'auto' | 'webgpu' | 'wasm'} */ (fieldById('on').value);
  fill('why', []);
  const opened = await open({ on });
  device?.close();
  device = opened;
  fill('device', [device.on === 'webgpu' ? `WebGPU, ${device.name}` : device.name]);
  if (on === 'auto' && device.on !== 'webgpu') fill('why', [`${device.reason} So WebAssembly computes.`]);
}

/** Reads the form. */
function chooseWork() {
  const border = /** @type {Border | ''} */ (fieldById('border').value);
  const { kernel, parameters } = form.operation('');
  const given = Object.entries(parameters).map((pair) => pair.join('='));
  const op = given.length > 0 ? `${kernel}:${given.join(',')}` : kernel;
  chosen = { op, run: pipeline([op], { border: border || undefined }) };
}

/** Computes the present frame, and shows the result. */
async function compute() {
  if (!frame || !device || !chosen) return;
  draw(/** @type {HTMLCanvasElement} */ (byId('source')), frame);
  const begun = performance.now();
  result = await chosen.run(frame, { device });
  found = { op: chosen.op, device: device.name, counted: result.counted, channels: countsOf(result) };
  const ended = performance.now();
  drawMaps(result);
  drawHistograms(result, scale);
  const { width, height, counted } = result;
  fill('time', [`${(ended - begun).toFixed(1)} ms`]);
  fill('size', [`${width} x ${height}`]);
  fill('counted', [describeCount(counted)]);
  fill('rate', [closeCamera ? rate.add(ended).toFixed(0) : '–']);
}

/** @param {Blob} blob @param {string} name */
async function showPicture(blob, name) {
  stopCamera();
  frame = await openPicture(blob, name);
  await compute();
}

async function showSample() {
  const answer = await fetch('sample.jpg');
  await showPicture(await answer.blob(), 'The sample');
}

function stopCamera() {
  closeCamera?.();
  closeCamera = undefined;
  rate.clear();
  byId('camera').setAttribute('aria-pressed', 'false');
  fill('camera', ['Use camera']);
}

async function startCamera() {
  closeCamera = await openCamera((taken) => {
    frame = taken;
    return next(compute);
  });
  byId('camera').setAttribute('aria-pressed', 'true');
  fill('camera', ['Stop camera']);
}

function save() {
  if (!found) return;
  // The old address is revoked only now, because a download reads it later.
  URL.revokeObjectURL(savedUrl);
  savedUrl = URL.createObjectURL(new Blob([JSON.stringify(found)], { type: 'application/json' }));
  element('a', { href: savedUrl, download: 'histogram.json' }).click();
}

byId('operation').append(form.place);
fill('border', [
  element('option', { value: '' }, 'the usual one'),
  ...borders.map((name) => element('option', {}, name)),
]);

for (const id of ['operation', 'border']) {
  byId(id).addEventListener('change', () => {
    void trying(async () => {
      chooseWork();
      await compute();
    });
  });
}
byId('on').addEventListener('change', () => {
  void trying(async () => {
    await choosePlace();
    await compute();
  });
});
byId('camera').addEventListener('click', () => void trying(closeCamera ? stopCamera : startCamera));
byId('sample').addEventListener('click', () => void trying(showSample));
byId('save').addEventListener('click', save);
byId('scale').addEventListener('click', () => {
  scale = scale === 'log' ? 'linear' : 'log';
  byId('scale').setAttribute('aria-pressed', String(scale === 'log'));
  if (result) drawHistograms(result, scale);
});
byId('file').addEventListener('change', () => {
  const file = fieldById('file').files?.[0];
  if (file) void trying(() => showPicture(file, file.name));
});
addEventListener('resize', () => result && drawHistograms(result, scale));
addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dropping');
});
addEventListener('dragleave', () => document.body.classList.remove('dropping'));
addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  const file = event.dataTransfer?.files[0];
  if (file) void trying(() => showPicture(file, file.name));
});

void trying(async () => {
  await choosePlace();
  chooseWork();
  await showSample();
});
