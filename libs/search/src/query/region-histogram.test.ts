import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { coloursByFfmpeg, grayByFfmpeg, makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import {
  cellStart,
  createPipeline,
  type Grid,
  type Pipeline,
  parseOperation,
  placeItem,
  planPipeline,
  runReference,
  specifiedOperations,
} from '@halogrid/kernels';
import fc from 'fast-check';
import { noise } from '../testing/make-job.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { openPixels } from './pixel-source.ts';
import { regionHistogram } from './region-histogram.ts';

const [width, height] = [1100, 40];
const next = noise(7);
const pixels = Uint8Array.from({ length: width * height }, () => next(256));

const operation = (text: string, border: string) => ({ ...parseOperation(text), border });
const pipelines = [
  createPipeline([operation('lbp', 'interior')]),
  createPipeline([operation('lbp:points=16,radius=2,labels=uniform', 'wrap')]),
  createPipeline([operation('conv:kernel=gaussian-5,as=u8', 'reflect'), operation('ldp:order=3', 'mirror')]),
];

/** The histograms of all cells of a grid over the whole image, by the reference. */
function cellsByReference(pipeline: Pipeline, grid: Grid): Uint32Array {
  const size = { width, height };
  const plan = planPipeline(pipeline, { x: 0, y: 0, ...size }, size, grid);
  const { item, end } = placeItem(plan, 1, 0);
  const bytes = new Uint8Array(end);
  for (let y = 0; y < height; y++) {
    bytes.set(pixels.subarray(y * width, (y + 1) * width), item.offset + y * item.stride);
  }
  return runReference(pipeline, bytes, item, false).bins;
}

const identityOf = (pipeline: Pipeline, grid: Grid) => ({
  operations: specifiedOperations(pipeline),
  grid,
  channels: [...pipeline.output.channels],
  bins: pipeline.bins,
  convention: pipeline.convention,
  resultsVersion: 0,
});

test('the region of a cell has the histogram of that cell in the whole image, and the grid is laid over the region', async (t) => {
  const path = join(await temporaryFolder(t), 'noise.pgm');
  writeFileSync(path, Buffer.concat([Buffer.from(`P5 ${width} ${height} 255\n`), pixels]));
  const source = await openPixels(pathToFileURL(path).href);
  t.after(() => source.close());
  for (const pipeline of pipelines) {
    const cellBins = pipeline.bins * pipeline.output.channels.length;
    const fine = { rows: 4, columns: 6 };
    const all = cellsByReference(pipeline, fine);
    const cellOf = (row: number, column: number): Uint32Array =>
      all.subarray((row * fine.columns + column) * cellBins, (row * fine.columns + column + 1) * cellBins);
    const startOf = (row: number, column: number) => ({
      x: cellStart(column, fine.columns, width),
      y: cellStart(row, fine.rows, height),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(2), fc.nat(4), async (row, column) => {
        const from = startOf(row, column);
        const to = startOf(row + 2, column + 2);
        const region = { ...from, width: to.x - from.x, height: to.y - from.y };
        const whole = await regionHistogram(source, identityOf(pipeline, { rows: 1, columns: 1 }), region);
        const expected = Float64Array.from({ length: cellBins }, (_, bin) =>
          [0, 1].reduce((sum, r) => sum + cellOf(row + r, column)[bin]! + cellOf(row + r, column + 1)[bin]!, 0),
        );
        assert.deepEqual(whole, expected);
        const halves = await regionHistogram(source, identityOf(pipeline, { rows: 2, columns: 1 }), region);
        const upper = Float64Array.from(cellOf(row, column), (count, bin) => count + cellOf(row, column + 1)[bin]!);
        assert.deepEqual(halves.subarray(0, cellBins), upper);
      }),
      { numRuns: 5 },
    );
  }
});

test('a region of a frame of a recording is read in gray and in colour', { skip: noFfmpeg }, async (t) => {
  const path = join(await temporaryFolder(t), 'a.mp4');
  makeVideo(path, videoKinds['h264.mp4']!, 4);
  const source = await openPixels(pathToFileURL(path).href, 2);
  const pixelsOfFrame = source.width * source.height;
  const region = { x: 10, y: 20, width: 30, height: 1 };
  const read = async (channels: 'gray' | 'rgb') => {
    const bytes = new Uint8Array(90);
    await source.read(region, { bytes, offset: 0, stride: 30, channels, planeBytes: 30 });
    return [0, 30, 60].map((from) => Buffer.from(bytes.subarray(from, from + 30)));
  };
  const first = region.y * source.width + region.x;
  const gray = grayByFfmpeg(path)
    .subarray(2 * pixelsOfFrame)
    .subarray(first, first + 30);
  const colours = coloursByFfmpeg(path).subarray(6 * pixelsOfFrame);
  const [green, blue, red] = [0, 1, 2].map((plane) => colours.subarray(plane * pixelsOfFrame + first).subarray(0, 30));
  assert.deepEqual((await read('gray'))[0], gray);
  assert.deepEqual(await read('rgb'), [red, green, blue]);
  await source.close();
});

test('a region that leaves the image is refused with what the image has', async (t) => {
  const path = join(await temporaryFolder(t), 'noise.pgm');
  writeFileSync(path, Buffer.concat([Buffer.from(`P5 ${width} ${height} 255\n`), pixels]));
  const source = await openPixels(pathToFileURL(path).href);
  t.after(() => source.close());
  const identity = identityOf(pipelines[0]!, { rows: 1, columns: 1 });
  for (const [region, words] of [
    [{ x: 1095, y: 0, width: 6, height: 4 }, '1095,0,6x4'],
    [{ x: 0, y: 0, width: 0, height: 4 }, '0,0,0x4'],
  ] as const) {
    await assert.rejects(regionHistogram(source, identity, region), {
      name: 'InputError',
      message: `The region ${words} is not inside of the image, which has 1100x40 pixels`,
    });
  }
});
