import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { bandOf, endOfData } from '../frame/bands.ts';
import type { JpegFrame } from '../frame/jpeg-frame.ts';
import { readJpegFrame } from '../frame/read-frame.ts';
import { isFine } from '../frame/status.ts';
import { findStretches } from '../frame/stretches.ts';
import { decodeOnCores } from '../testing/cores.ts';
import { madeUpJpegs } from '../testing/made-up-arbitrary.ts';
import { mutate } from '../testing/mutate.ts';
import { writeJpeg } from '../testing/write-jpeg.ts';
import { decodeTwin } from './decode-twin.ts';

const fixture = readFileSync(new URL('../../../imaging/fixtures/restart.jpg', import.meta.url));

/** All bands of an image, one after another; undefined if one is in doubt, or the file cannot be cut into bands. */
function decodeBands(jpeg: Uint8Array, frame: JpegFrame, mcuRows: number): Buffer | undefined {
  const stretches = findStretches(jpeg, frame);
  if (typeof stretches === 'string') return undefined;
  const rows = 8 * frame.lumaDown * mcuRows;
  const bands: Uint8Array[] = [];
  for (let y = 0; y < frame.height; y += rows) {
    const { frame: own, from, to } = bandOf(frame, stretches, y, rows);
    assert.equal(own.height, Math.min(rows, frame.height - y));
    const { status, luma } = decodeTwin(Buffer.concat([jpeg.subarray(from, to), endOfData]), own);
    if (!isFine(status)) return undefined;
    bands.push(luma);
  }
  return Buffer.concat(bands);
}

test('images in bands of any height equal what libjpeg-turbo decodes, for every restart interval', async () => {
  let fine = 0;
  const count = repeated(60, 400);
  const made = madeUpJpegs.map((one) => {
    const restartMcus = one.restartMcus === 0 ? 5 : one.restartMcus;
    return { ...one, restartMcus, bits: Math.min(one.bits, 4), quantiser: Math.min(one.quantiser, 4) };
  });
  await fc.assert(
    fc.asyncProperty(made, fc.integer({ min: 1, max: 5 }), async (one, mcuRows) => {
      const jpeg = writeJpeg(one);
      const frame = readJpegFrame(jpeg);
      assert.ok(typeof frame !== 'string');
      const found = decodeBands(jpeg, frame, mcuRows);
      const isWhole = isFine(decodeTwin(jpeg, frame).status);
      // Bands may settle even if the whole image does not, because each begins at a known place.
      assert.ok(found !== undefined || !isWhole);
      if (!found) return;
      const expected = await decodeOnCores(jpeg, frame);
      assert.ok(expected && found.equals(expected));
      fine++;
    }),
    { numRuns: count },
  );
  assert.ok(fine > count / 3, `${fine} of ${count} are in range`);
});

test('some band of a damaged file is in doubt, or all equal what libjpeg-turbo decodes', async () => {
  let fine = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const jpeg = mutate(fixture, fixture, seed);
    const frame = readJpegFrame(jpeg);
    const found = typeof frame === 'string' ? undefined : decodeBands(jpeg, frame, 2);
    if (!found || typeof frame === 'string') continue;
    const expected = await decodeOnCores(jpeg, frame);
    assert.ok(expected && found.equals(expected), `seed ${seed}`);
    fine++;
  }
  assert.ok(fine > 0 && fine < 200, `${fine} are fine`);
});

test('a file without restart markers, or with wrong ones, has no bands', () => {
  const frame = readJpegFrame(fixture) as JpegFrame;
  assert.equal(findStretches(fixture, { ...frame, restartBlocks: 0 }), 'no restart markers');
  const at = fixture.indexOf(Buffer.from([0xff, 0xd1]));
  const changed = (change: (bytes: Buffer) => Buffer) => findStretches(change(Buffer.from(fixture)), frame);
  assert.equal(
    changed((bytes) => bytes.fill(0xd3, at + 1, at + 2)),
    'a marker that is not due',
  );
  assert.equal(
    changed((bytes) => bytes.fill(0xd9, at + 1, at + 2)),
    'another number of restart markers',
  );
  assert.equal(
    changed((bytes) => bytes.subarray(0, -2)),
    'no end of the data',
  );
  const stretches = findStretches(fixture, frame);
  assert.ok(typeof stretches !== 'string');
  assert.throws(() => bandOf(frame, stretches, 3, 8), RangeError);
});
