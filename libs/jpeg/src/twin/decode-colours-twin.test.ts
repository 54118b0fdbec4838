import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isThorough, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { hasColours } from '../frame/jpeg-frame.ts';
import { readJpegFrame } from '../frame/read-frame.ts';
import { isFine } from '../frame/status.ts';
import { decodeOnCores } from '../testing/cores.ts';
import { madeUpJpegs } from '../testing/made-up-arbitrary.ts';
import { mutate } from '../testing/mutate.ts';
import { writeJpeg } from '../testing/write-jpeg.ts';
import { decodeColoursTwin } from './decode-colours-twin.ts';

const fixtures = fileURLToPath(new URL('../../../imaging/fixtures/', import.meta.url));

/** Whether the twin decodes a file; if it does, its colours must equal libjpeg-turbo's. */
async function compare(jpeg: Uint8Array, name: string): Promise<boolean> {
  const frame = readJpegFrame(jpeg);
  if (typeof frame === 'string' || !hasColours(frame)) return false;
  const { statuses, planes } = decodeColoursTwin(jpeg, frame);
  if (!statuses.every(isFine)) return false;
  const expected = await decodeOnCores(jpeg, frame, 'rgb');
  assert.ok(expected, `${name}: cores refuse it`);
  assert.equal(Buffer.compare(planes, expected), 0, `${name}: other colours`);
  return true;
}

test('files of other encoders have the colours of libjpeg-turbo', async () => {
  for (const path of globSync(`${fixtures}*.jpg`)) {
    const isForCores = /(progressive|arithmetic|cmyk|rgb|3-to-2)\.jpg$/.test(path);
    assert.equal(await compare(readFileSync(path), path), !isForCores, path);
  }
});

test('photographs of every quality, size and sampling that sharp writes have the colours of libjpeg-turbo', async () => {
  const photograph = fileURLToPath(new URL('../../../kernels/oracle/images/astronaut.png', import.meta.url));
  for (let quality = 1; quality <= 100; quality += isThorough ? 1 : 7) {
    const size = { width: 30 + (quality % 40), height: 1 + (quality % 37) };
    const part = sharp(photograph).extract({ left: 180, top: 60, ...size });
    const chromaSubsampling = quality % 2 === 0 ? '4:2:0' : '4:4:4';
    const jpeg = await part.jpeg({ quality, chromaSubsampling, optimiseCoding: quality % 3 === 0 }).toBuffer();
    assert.ok(await compare(jpeg, `quality ${quality}`));
  }
});

test('images of random coefficients, samplings and sizes have the colours of libjpeg-turbo', async () => {
  let fine = 0;
  const count = repeated(100, 400);
  const inRange = madeUpJpegs.map((made) => ({
    ...made,
    bits: Math.min(made.bits, 4),
    quantiser: Math.min(made.quantiser, 4),
  }));
  await fc.assert(
    fc.asyncProperty(inRange, async (made) => {
      if (await compare(writeJpeg(made), JSON.stringify(made))) fine++;
    }),
    { numRuns: count },
  );
  assert.ok(fine > count / 3, `${fine} of ${count} are in range`);
});

test('components of at most two samples in width are repeated, and edges are right for every width and height', async () => {
  let [fine, all] = [0, 0];
  for (const luma of [
    [2, 1],
    [2, 2],
    [1, 2],
    [4, 1],
    [4, 2],
    [1, 4],
    [3, 1],
  ] as const) {
    for (const width of [1, 2, 3, 4, 5, 6, 7, 16, 17]) {
      for (const height of [1, 2, 3, 15, 16, 17, 31, 33]) {
        const made = { width, height, samplings: [luma, [1, 1], [1, 1]] as const, restartMcus: 0, density: 5, bits: 2 };
        const jpeg = writeJpeg({ ...made, quantiser: 2, sharesTables: false, seed: width * 100 + height });
        const frame = readJpegFrame(jpeg);
        assert.ok(typeof frame === 'object');
        if (await compare(jpeg, JSON.stringify(made))) fine++;
        all++;
      }
    }
  }
  assert.ok(fine > (3 * all) / 4, `${fine} of ${all} are in range`);
});

test('damaged files are in doubt, or have the colours of libjpeg-turbo', async () => {
  const files = ['420.jpg', '422.jpg', '440.jpg', '444.jpg', 'restart.jpg'].map((name) =>
    readFileSync(fixtures + name),
  );
  let fine = 0;
  const count = repeated(100, 800);
  for (let seed = 1; seed <= count; seed++) {
    const jpeg = mutate(files[seed % files.length]!, files[(3 * seed) % files.length]!, seed);
    if (await compare(jpeg, `seed ${seed}`)) fine++;
  }
  assert.ok(fine > 0 && fine < count, `${fine} of ${count} are fine`);
});
