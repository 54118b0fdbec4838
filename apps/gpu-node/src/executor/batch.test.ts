import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline, type Grid, type Pipeline, planPipelines } from '@halogrid/kernels';
import { Batch } from './batch.ts';

const counting = createPipeline([{ kernel: 'lbp', parameters: {} }]);
const floats: Pipeline = { ...counting, bins: 0, output: { sample: 'f32', channels: ['red', 'green', 'blue'] } };
const inColour: Pipeline = { ...counting, input: ['red', 'green', 'blue'] };
const large = 2 ** 30;
const batchBytes = 2 ** 26;

/** How many frames of side `side` a batch takes. */
function framesOf(pipeline: Pipeline, deviceBytes: number, side: number, needsMap = false, grid?: Grid): number {
  const size = { width: side, height: side };
  const batch = new Batch('u8', [pipeline], { maxStagingBytes: deviceBytes, batchBytes });
  const plan = planPipelines([pipeline], { x: 0, y: 0, ...size }, size, grid);
  while (batch.add(plan, needsMap)) assert.ok(batch.stagingBytes <= deviceBytes);
  return batch.items.length;
}

test('a batch holds as many planes as the device computes best at once, and a colour image is three planes', () => {
  assert.equal(framesOf(counting, large, 1024), 64);
  assert.equal(framesOf(inColour, large, 1024), 21);
});

test("a batch is full at the device's largest staging memory", () => {
  assert.equal(framesOf(counting, 10 * 2 ** 20, 1024), 10);
});

test('histograms of 64 MiB are a batch', () => {
  // 1 KiB a cell, 8 MiB a frame.
  assert.equal(framesOf(counting, large, 128, false, { rows: 64, columns: 128 }), 8);
});

test('dense results of 64 MiB are a batch, if they are wanted', () => {
  // Twelve bytes a pixel, and some at the ends of rows.
  assert.equal(framesOf(floats, large, 1024, true), 5);
  assert.equal(framesOf(floats, large, 1024, false), 64);
});

test('a tile that fits the device for each pipeline is taken, and is alone in its batch if all its results together are large', () => {
  const size = { width: 1000, height: 1000 };
  const pipelines = [counting, floats, floats];
  const plan = planPipelines(pipelines, { x: 0, y: 0, ...size }, size);
  const withLimit = (maxStagingBytes: number) => new Batch('u8', pipelines, { maxStagingBytes, batchBytes });
  const fitting = withLimit(13 * 2 ** 20);
  assert.ok(fitting.add(plan, true));
  assert.equal(fitting.add(plan, true), undefined);
  assert.equal(withLimit(11 * 2 ** 20).add(plan, true), undefined);
});

test('dense results are computed for a whole batch, so a tile that needs one is not placed among others', () => {
  const size = { width: 64, height: 64 };
  const plan = planPipelines([floats], { x: 0, y: 0, ...size }, size);
  const batch = new Batch('u8', [floats], { maxStagingBytes: large, batchBytes });
  for (let i = 0; i < 2; i++) assert.ok(batch.add(plan, false));
  assert.equal(batch.add(plan, true), undefined);
  assert.deepEqual([batch.items.length, batch.withMap], [2, false]);
});

test('a tile beyond the limits is alone in its batch, unless the device does not take it', () => {
  assert.equal(framesOf(counting, large, 9000), 1);
  assert.equal(framesOf(floats, large, 3000, true), 1);
  assert.equal(framesOf(floats, 2 ** 26, 3000, true), 0);
});
